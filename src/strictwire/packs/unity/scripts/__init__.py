"""Names of the C# classes behind MonoBehaviours: by source file, by DLL, by what newer files say themselves."""
