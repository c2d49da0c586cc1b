"""Code of perl, ruby, node, php and lua on a command line, and what debuggers are told."""
