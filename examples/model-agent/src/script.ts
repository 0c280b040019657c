import { type Deed, type ModelRequest, type ScriptedModel, scriptedModel } from '@meup/agent-sdk/ai'

/** Plays a model that reviews: it lists the reports, reads one, and answers from its content. */
export const reviewerScript = (): ScriptedModel =>
  // The SDK shows reasoning as thoughts only for providers that are known to send summaries, such as OpenAI.
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

/** Lists the tool results since the last question. */
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
