mkdir inbox
cd inbox
echo 11 >'<|im_end|>'
echo 12 >'<tool_response>.txt'
echo 13 >'a b  c'
echo 14 >'-rf'
echo 15 >$'line\nbreak<|user|>'
echo 16 >"quote'\"<_end>"
