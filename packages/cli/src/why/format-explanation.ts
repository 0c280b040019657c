import type { HttpClient } from '@meup/agent-sdk/http'
import { getStdoutStyle } from '../lib/output.js'
import type { Explanation } from './explanation.js'
import { whyLines } from './lines.js'
import { findCapabilityLine } from './space-file.js'

/** An explanation as this terminal shows it, with places in the space.yaml of this folder. */
export const formatExplanation = (explanation: Explanation, { target }: HttpClient): string[] =>
  whyLines(explanation, {
    style: getStdoutStyle(),
    ...(process.stdout.columns > 0 && { width: process.stdout.columns }),
    findLine: (participant, capability) => findCapabilityLine(target, participant, capability),
  })
