//! The command from outside: the real binary, real folders, a provider that is a stand-in.
