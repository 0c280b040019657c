/** Behaviours of agents that ACP's schema does not define or that differ from it, and their effects in a space. */
export const agentHabits = {
  'text behind the end': {
    sends: 'the end of its text after the answer of `session/prompt`',
    here: 'It belongs to the answer, which waits for 150 ms without an update, and for 2 s if there is no text.',
  },
  'text long behind the end': {
    sends: 'text seconds after that',
    here: 'It is a further message of the turn, at most five; what follows is thought.',
  },
  'a call that goes on': {
    sends: 'the end of the prompt, while a call is not over',
    here: 'The answer waits for the call up to 10 s, or for 2 s without an update.',
  },
  choices: {
    sends: 'several ways to allow a call once',
    here: 'The asker chooses. Otherwise each way is a proposal of its own: one is approved, and the others are withdrawn.',
  },
  rejections: {
    sends: 'several ways to reject a call',
    here: 'The one that the rejection names is chosen, otherwise none: the permission is cancelled.',
  },
  'a sub-agent': {
    sends: 'a permission in a session that was not opened here',
    here: 'It is decided in the prompt of the session that `_meta` or `subagent_update` names, or in the only one that runs.',
  },
  'a sub-agent of somebody': {
    sends: 'the same while several prompts run',
    here: 'It is decided in a run of its own, for participants that may read all prompts; without any, it is refused.',
  },
  'messages with ids': {
    sends: 'chunks of another `messageId`',
    here: 'They are another paragraph, of answers and of thoughts.',
  },
  'a picture': {
    sends: 'an image or a sound',
    here: 'A result keeps it, as far as `maxResultBytes` allows. An answer has a line for it: `[image: image/png, 123 KB]`.',
  },
  'a link': {
    sends: 'a link or a file',
    here: 'A result keeps it. An answer has a link of Markdown, and the text of the file.',
  },
  'a deleted file': {
    sends: 'a diff whose `newText` is `null`',
    here: 'It is shown as a deletion.',
  },
  'a part that is none': {
    sends: '`locations: [null]`, or content that cannot be read',
    here: 'The part is left out; the log of the operator has the first of each kind.',
  },
  'an unknown update': {
    sends: 'an update of a kind that is newer than this',
    here: 'It is skipped; the log of the operator has the first of each kind.',
  },
  'a command': {
    sends: '`available_commands_update`',
    here: '`@coder /compact` reaches it as the command `/compact`.',
  },
  'a command that it has not': {
    sends: 'the same, and is asked for another command',
    here: 'The answer is the list of its commands; the agent is not asked.',
  },
  'a silent command': {
    sends: 'no text for a command',
    here: 'The answer says that it is done.',
  },
  'another version': {
    sends: 'another `protocolVersion` than 1',
    here: 'It is refused. `"1"`, and none, are 1.',
  },
  'a lost session': {
    sends: '`refusal` or an error for a session that it has loaded',
    here: 'The prompt is sent once more in a new session, and the run says that what was said before is lost.',
  },
  'a large id': {
    sends: 'a permission with an `id` beyond 2^53',
    here: 'The answer has the same digits.',
  },
  'null to the tools of the space': {
    sends: '`null` for `params`, `cursor`, `arguments` or `_meta` to the server `space`',
    here: 'It is read as absent, as `meup mcp serve` does.',
  },
  'very many updates': {
    sends: '10,000 updates a second, in text and in thoughts',
    here: 'All of it is logged, many in one envelope; others are not held up.',
  },
} as const satisfies Record<string, { readonly sends: string; readonly here: string }>
