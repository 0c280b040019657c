import type { Step } from './scripted-model.js'

/** Plays a model that reviews: it lists the reports, reads one, and answers from its content. */
export function reviewerScript([listing, report]: readonly string[]): Step {
  if (listing === undefined) {
    return {
      thought: 'Whether to deploy depends on the tests. First I need to know what reports there are.',
      text: 'Let me see what there is.',
      calls: [{ name: 'files__list_directory', args: { _rationale: 'to find the test report', path: '.' } }],
    }
  }
  if (report === undefined) {
    return {
      text: 'There is a report; what fails decides.',
      calls: [{ name: 'files__read_text_file', args: { path: 'report.txt' } }],
    }
  }
  const failed = report.match(/^FAIL.*$/gm) ?? []
  return {
    text: failed.length === 0 ? 'Go ahead: nothing fails.' : `Do not deploy yet: ${failed.join(', ')}.`,
  }
}
