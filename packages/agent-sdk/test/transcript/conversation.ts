import { openTranscript, type Transcript, type TranscriptErrorCode } from '@meup/agent-sdk/transcript'
import { expect } from 'vitest'

/** A transcript with five commits: question, thought, call, result, answer. */
export function conversation(): Transcript {
  const transcript = openTranscript()
  transcript.user('What fails?')
  transcript.reasoning('The report will tell')
  transcript.assistant('', { toolCalls: [{ id: 'c1', name: 'read', arguments: { path: 'report.txt' } }] })
  transcript.tool('c1', 'FAIL 2')
  transcript.assistant('Test 2.')
  return transcript
}

export const json = <Value>(value: Value): Value => JSON.parse(JSON.stringify(value))

export const refusal = (code: TranscriptErrorCode, details = {}) =>
  expect.objectContaining({ name: 'TranscriptError', code, details: expect.objectContaining(details) })
