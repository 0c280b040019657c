import { connect } from '@meup/agent-sdk'
import { lastText, model } from './model.js'

await using space = await connect()

let report = ''
const review = (draft: string) => {
  report = draft
  return [{ call: 'ask_agent', input: { agent: 'reviewer', question: `Review this draft:\n\n${report}` } }]
}

await space.agent({
  ...model([
    () => [
      { text: 'The library has figures about the tides.' },
      { call: 'library__read_text_file', input: { _rationale: 'the report rests on it', path: 'tides.txt' } },
    ],
    (request) => review(`# Tides\n\n${lastText(request)}`),
    () => review(`${report}\n\nSource: library/tides.txt`),
    () => [
      { call: 'reports__write_file', input: { _rationale: 'reviewed', path: 'tides.md', content: report } },
    ],
    () => [{ text: 'The report is in reports/tides.md; reviewer has approved it.' }],
  ]),
  instructions:
    'You look things up in the library (folder "."), write a report, have reviewer review it until it is approved, and write it to the folder "." of reports.',
  tools: ['library/read_text_file', 'reports/write_file'],
})
