-- The databases of the Temporal server, beside the relay's own.
CREATE DATABASE temporal;
CREATE DATABASE temporal_visibility;
