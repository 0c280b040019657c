import { type Refusal, refuse } from '@meup/gateway/routes'
import { type ErrorCode, errorsOf, omitUndefined } from '@meup/protocol'

/** The messages to AG-UI clients: what happened, with the value. Then what to do. */
export const runTexts = {
  // Reasons for which a request is refused
  deep_body: 'The body is nested more than {depth} levels deep. Nest it less.',
  not_an_input: 'The body is not a RunAgentInput. Send one JSON object.',
  invalid_field: '{path} must be {expected}.',
  empty_question: 'The last message of the user is empty. Send a text.',
  missing_question: 'No message has the role user. Add the one that resume is about.',
  too_many_answers: 'A request may have {limit} entries of resume. Send the rest later.',
  repeated_answer: '{path} was answered before. Send one entry for each interruptId.',
  unnamed_agent: 'The space has {count} agents. Name one as forwardedProps.agent or ?agent=.',
  unknown_agent: 'There is no participant {agent} here. Name one of the space.',
  own_agent: 'You cannot ask yourself. Name another agent.',
  unknown_proposal: 'There is no proposal {proposal} in this space. Check the interruptId.',
  not_allowed:
    'You may not make the request that {proposal} proposes. Leave the decision to others, or ask for a grant.',
  hidden_part:
    'No interrupt shows all of {proposal}, so it cannot be approved here. Reject it, or approve it where all of it is shown: with `meup proposals show {proposal}`, or on the page of the space.',

  // Reasons for which a run ends before its turn
  late: 'No answer came in {seconds} s. Send the same message again to continue waiting.',
  busy: 'Over the rate for work: the space is too busy. Send the same message later.',
  replaced: 'The log was replaced since this was asked. Ask again.',
  unreadable_log: 'The log cannot be read. Send the same message again later.',
} as const

/** Error codes of refusals; refusals that are not listed here have the code `invalid_request`. */
const codes: Readonly<Partial<Record<keyof typeof runTexts, ErrorCode>>> = {
  ...{ deep_body: 'invalid_json', not_an_input: 'invalid_json', unknown_agent: 'participant_not_found' },
  ...{ unknown_proposal: 'proposal_not_found', not_allowed: 'capability_violation' },
}

/** `path`: JSON pointer of the invalid field. */
export const createRefusal = errorsOf(
  runTexts,
  (text, message, _, path?: string): Refusal => ({
    ...refuse(codes[text] ?? 'invalid_request', message),
    ...omitUndefined({ path }),
  }),
)

export const invalidField = (path: string, expected: string): Refusal =>
  createRefusal('invalid_field', { path, expected }, path)
