import { defaultGuard, printable, readResult } from '@meup/folds'
import type { EnvelopeOf, Kind } from '@meup/protocol'

/** What a tool gave back, for a terminal, without the usual secrets. */
export const resultText = ({ payload }: EnvelopeOf<typeof Kind.mcpResponse>): string =>
  printable(readResult(payload, defaultGuard).text)
