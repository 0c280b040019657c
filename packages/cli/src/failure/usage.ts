/**
 * The messages of `UsageError`, by code. A message says what happened, with the value, and then what to do; `{name}` is a
 * placeholder for a value of its details. docs/troubleshooting.md lists the other errors, those of failures.ts.
 */
export const usageTexts = {
  // Errors about arguments and options
  invalid_value: '{option} takes {expected}, not {value}.',
  /** Omits the value, which may be a secret. */
  invalid_form: '{option} takes {expected}.',
  invalid_number: '{option} takes a number from 1 to {maximum}, not {value}.',
  invalid_json: '{option} is not JSON: {reason}. In a shell, put it in single quotes.',
  past_time: '{option} {value} is {time}, which is over. Give a later one.',
  option_conflict: '{option} does not go with {other}. Leave out one of them.',
  option_needed: '{option} needs {needed}. Add that, or leave out {option}.',
  unknown_option: 'there is no option {option}. List all with --help.',
  missing_argument: 'an argument is missing or wrong. Write {form}.',
  unknown_command: 'there is no command {command}. List all with meup help.',
  no_terminal: '{command} needs a terminal. Use {instead} here.',
  cancelled: 'nothing was written, because it was cancelled.',
  export_to_terminal: 'an export is for a file. Add -o <file>, or send it elsewhere with > or |.',
  large_stdin: 'stdin has more than {size}. Send a part of it.',
  binary_stdin: 'stdin is not text in UTF-8. Convert it first, or name the file in the question.',
  empty_stdin: 'stdin is empty, so there is no question. Write one there.',

  // Errors about names and ids
  unknown_name: 'there is no {what} {name}. Did you mean {meant}?',
  unknown_first_name: 'there is no {what} {name}, nor any other.',
  ambiguous_id: '{start} may be any {what} of {ids}. Give more of its id.',
  ambiguous_hash: 'several commits begin with {start}. Give more of the hash.',
  ambiguous_program: 'several programs are called {name}. Choose one of {programs}.',
  ambiguous_space: 'the spaces {spaces} are possible. Choose one with --space.',
  unnamed_space: 'the recording does not name its space. Add --name <space>.',
  unnamed_agent: 'no agent has answered here yet. Name one with {option}.',
  not_answering:
    '{name} is a tool server, which answers no questions. Call a tool of it with meup call {name}/<tool>.',
  no_agent: 'no other participant of this space can answer. Start or invite one.',

  // Errors about files
  no_folder: 'there is no folder {folder}. Check the name, or make a space in it with meup init.',
  not_a_folder: '{path} is a file, so no folder can be there. Name another folder.',
  file_exists: '{file} is there already. Edit it, or name another folder.',
  folder_in_use:
    '{folder} has {files} already. Name another folder: meup init <folder>. Or add a space alone to this project: meup space init.',
  missing_pack: 'there is no {file}. Write it with pnpm packs in a clone.',
  unreadable_export: '{file} cannot be read: {reason}. Write an export with meup audit export -o {name}.',
  no_log_file: 'this log is in {place}, not in a file. Copy it with {command}.',
  no_keys: 'auth.jwt.jwks: {file} has no keys that can be used: {reason}.',

  // Errors about tokens
  token_exists: '{participant} has a token in {file}. Replace it with meup token rotate {participant}.',
  token_missing: '{participant} has no token ({state}). Make one with meup token create {participant}.',
  shared_token: '{participants} have the same token in {folder}. Give each its own.',
  invalid_token: 'the token in {file} is not one word of ASCII letters, digits and signs. Replace it.',
  empty_token_file: '{file} is empty. See with meup token list where the tokens are.',
  revoked_token_file: 'there is no token in {file}. Delete it to have one made.',

  // Errors about tool servers and new participants
  missing_server:
    'the server {name} needs a command or an address. Write meup add {name} -- npx -y <package>, or meup add {name} https://tools.example/mcp.',
  not_an_address: '{value} is not an address such as https://tools.example/mcp. For a command: {command}.',
  misplaced_secret: '{option} does not go with {target}. Give {target} its secrets with {instead}.',
  unusable_server: '{name} cannot be added: {reason}.',
  invalid_name:
    '{name} cannot be the name of a participant. Choose up to 64 letters, digits and . _ -, beginning with a letter or digit.',
  same_names: 'you, the agent and the others need different names, not {names}.',
  invalid_names: 'these settings are not possible: {problems}.',
  imitated_name: '{name} could be taken for {other}. Choose another name.',
  taken_name: '{name} is a participant of kind {kind} already. Choose another name.',
  server_exists: '{name} is a participant already. Replace it with --replace, or choose another name.',
  aliased_participants: 'the participants of {file} are an alias. Write this by hand:\n{block}',
  unset_here: 'the variable {variable} is not set here. Set it, or write --env {variable}=<value>.',
  unset_in_file: 'the variable {variable} is not set. Set it, or write it into .meup/secrets/{variable}.',
  no_servers: '{path} cannot be imported: {reason}. Name a file with MCP servers.',
  no_usable_servers: 'no server can be imported, for these reasons:\n{reasons}',
  unknown_format:
    '{place} has no MCP servers in a known form: {reason}. These are read: mcpServers of Claude, Cursor, Windsurf, Gemini CLI and others, servers of VS Code, mcp of opencode, context_servers of Zed, and mcp_servers of Codex.',
  damaged_json: '{place} is not JSON: {reason}. Correct the file.',
  leaving_values: 'values of the environment would leave this machine: {values}. Agree to that with --yes.',
  missing_values: 'no one is at a terminal to give {values}. Set them in the environment.',

  // Errors about the log and transcripts
  not_a_thought: '{ref} is not a thought. Find its number with meup watch --seq.',
  no_acts: 'nothing was called, refused or answered here yet. Look at all that was said with meup search.',
  unknown_act: 'no act says {text}. Look at all that was said, thought and called with meup search.',
  unknown_turn: "{agent} has done nothing in turn {number}. Write '#{number}' for an envelope of the log.",
  no_transcripts: 'there are no transcripts in {folder}. Name the folder of an agent with --folder.',
  not_in_transcripts:
    'no transcript here has anything of {name}. Run meup transcript log where the agent ran.',
  leaving_prompts: 'the transcript names the server {url}. Send the prompts there with --base-url {url}.',
} as const

export type UsageCode = keyof typeof usageTexts

/** Values of `expected` in details, by the kind of the option or argument. */
export const valueForms = {
  address: 'an address such as http://127.0.0.1:11434/v1',
  context: 'a path such as run or run/step',
  count: 'a whole number such as 20',
  days: 'a number of days greater than 0',
  duration: 'how long, such as 30s, 5m, 2h, 7d or 60 for seconds',
  envelope: 'a seq or an id',
  exactHost: 'a name without wildcards, such as host.docker.internal',
  futureTime: 'a time, such as tomorrow, friday 14:30, 2026-01-02, 3h or 2026-01-02T03:04:05Z',
  head: '<seq>:<hash>, as meup audit verify prints it',
  header: 'a name and a value, such as "X-Team: blue"',
  host: 'a name such as host.docker.internal',
  key: 'the name of an environment variable, such as MODEL_API_KEY, in which the key stays',
  kind: 'a kind, such as {"kind":"chat"}',
  listen: 'HOST:PORT, such as 127.0.0.1:8080 or [::1]:8080',
  model: 'the name of a model',
  object: `a JSON object, such as '{"path":"README.md"}'`,
  pastTime: 'a time, such as yesterday, tuesday 14:30, 2026-01-02, 3h or 2026-01-02T03:04:05Z',
  port: 'a port',
  range: 'how many, or <from>-<to>',
  reasoning: 'full, summary, boundaries or none',
  space: 'a name of a-z, 0-9 and -',
  speed: 'a number, such as 10 or 0.5, or max',
  terms: 'name=value and for:1h',
  timeout: '24d at most',
  tool: 'participant/tool, such as files/read_text_file',
  variable: 'NAME=value, or NAME for a variable that is set here',
} as const
