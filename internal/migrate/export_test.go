package migrate

// LockKey lets a test stand in for another run.
const LockKey = lockKey
