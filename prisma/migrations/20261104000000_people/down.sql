DROP TABLE secrets;
DROP TABLE invitations;
DROP TABLE rate_limits;
DROP TABLE verifications;
DROP TABLE accounts;
DROP TABLE sessions;
DROP TABLE people;
