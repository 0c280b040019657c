import type { HttpClient } from '@meup/agent-sdk/http'
import { getStdoutStyle } from '../lib/output.js'
import type { Explanation } from './explanation.js'
import { whyLines } from './explanation-lines.js'
import { findCapabilityLine } from './space-file.js'

/** Formats an explanation for this terminal, with line numbers of this folder's space.yaml. */
export const formatExplanation = (explanation: Explanation, { target }: HttpClient): string[] =>
  whyLines(explanation, {
    style: getStdoutStyle(),
    ...(process.stdout.columns > 0 && { width: process.stdout.columns }),
    findLine: (participant, capability) => findCapabilityLine(target, participant, capability),
  })
