-- Creates a role for each program, and databases that only its own role can open. Runs once, on a new volume.
\getenv relay_password RELAY_DATABASE_PASSWORD
\getenv temporal_password TEMPORAL_DATABASE_PASSWORD

CREATE ROLE relay LOGIN PASSWORD :'relay_password';
CREATE ROLE temporal LOGIN PASSWORD :'temporal_password';

CREATE DATABASE relay OWNER relay;
CREATE DATABASE temporal OWNER temporal;
CREATE DATABASE temporal_visibility OWNER temporal;

-- Without this line, every role may connect to every database.
REVOKE ALL ON DATABASE relay, temporal, temporal_visibility, postgres, template1 FROM PUBLIC;
