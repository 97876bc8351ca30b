// A C++ program that does nothing: what starting a process costs by itself.
// memory.py runs it beside the program it is asked about.
int main() { return 0; }
