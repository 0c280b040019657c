/** Exit codes. */
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
  /** An agent said that it could not answer. */
  noAnswer: 9,
  interrupted: 130,
  /** As of a program that SIGPIPE ended. */
  brokenPipe: 141,
} as const
