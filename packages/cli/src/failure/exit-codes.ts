export const exitCodes = {
  ok: 0,
  error: 1,
  usage: 2,
  unreachable: 3,
  auth: 4,
  denied: 5,
  timeout: 6,
  rejected: 7,
  auditMismatch: 8,
  /** The agent replied that it could not answer. */
  noAnswer: 9,
  interrupted: 130,
  /** The shell's exit code for a program killed by SIGPIPE. */
  brokenPipe: 141,
} as const
