-- The databases of hub and host, which the first start of PostgreSQL in compose.yaml makes.
CREATE DATABASE hub;
CREATE DATABASE host;
