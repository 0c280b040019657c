import { type Deed, type ModelRequest, type ScriptedModel, scriptedModel } from '@meup/agent-sdk/ai'

/** Plays a model that reviews: it looks what there is, reads the report, and answers by what it has read. */
export const reviewerScript = (): ScriptedModel =>
  // Its reasoning is shown as that of a provider who summarises it.
  scriptedModel((request) => answer(resultsOf(request)), { provider: 'openai.script', modelId: 'script' })

function answer([listing, report]: readonly string[]): readonly Deed[] {
  if (listing === undefined) {
    return [
      { reasoning: 'Whether to deploy depends on the tests. First I need to know what reports there are.' },
      { text: 'Let me see what there is.' },
      { call: 'files__list_directory', input: { _rationale: 'to find the test report', path: '.' } },
    ]
  }
  if (report === undefined) {
    return [
      { text: 'There is a report; what fails decides.' },
      { call: 'files__read_text_file', input: { _rationale: 'what fails decides', path: 'report.txt' } },
    ]
  }
  const failed = report.match(/^FAIL.*$/gm) ?? []
  return [
    { text: failed.length === 0 ? 'Go ahead: nothing fails.' : `Do not deploy yet: ${failed.join(', ')}.` },
  ]
}

/** Tool results since the last question. */
function resultsOf({ prompt }: ModelRequest): string[] {
  const since = prompt.slice(prompt.findLastIndex(({ role }) => role === 'user') + 1)
  return since.flatMap(({ role, content }) =>
    role === 'tool'
      ? content.map((part) =>
          part.type === 'tool-result' && 'value' in part.output ? String(part.output.value) : '',
        )
      : [],
  )
}
