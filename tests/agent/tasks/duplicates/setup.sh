mkdir -p photos/2024 'photos/2025 summer'
echo sea >photos/2024/b.jpg
echo sea >photos/2024/a.jpg
echo sea >'photos/2025 summer/c.jpg'
echo wood >'photos/2025 summer/d.jpg'
echo wood >photos/wood.jpg
echo alone >photos/2024/alone.jpg
