import { type ShellCommand, splitCommands } from './shell.js'

/** Programs that destroy data regardless of their arguments, and what they do. */
const programs: Readonly<Record<string, string>> = {
  rm: 'deletes files',
  rmdir: 'deletes folders',
  unlink: 'deletes files',
  shred: 'overwrites files for good',
  truncate: 'empties files',
  dd: 'overwrites files or disks',
  mkfs: 'formats a disk',
  fdisk: 'changes partitions',
  parted: 'changes partitions',
  wipefs: 'erases a disk',
  kill: 'ends processes',
  pkill: 'ends processes',
  killall: 'ends processes',
  shutdown: 'stops the machine',
  reboot: 'stops the machine',
  halt: 'stops the machine',
  poweroff: 'stops the machine',
  crontab: 'replaces scheduled tasks',
  dropdb: 'deletes a database',
  dropuser: 'deletes a user',
  userdel: 'deletes a user',
  del: 'deletes files',
  erase: 'deletes files',
  rd: 'deletes folders',
  format: 'formats a disk',
  'remove-item': 'deletes files',
  'stop-process': 'ends processes',
}

/** Commands that destroy data with a subcommand or option, and what they do. */
const shapes: readonly { readonly pattern: RegExp; readonly does: string }[] = [
  {
    pattern: /^git push\b.* (?:-[a-z]*f[a-z]*|--force\S*|--delete|--mirror|\+\S+|:\S+)(?: |$)/,
    does: 'replaces what was pushed',
  },
  {
    pattern: /^git (?:reset\b.* --hard|clean\b.* -\S*f|checkout\b.* (?:-f|--force|--)(?: |$)|restore\b)/,
    does: 'discards changes',
  },
  {
    pattern:
      /^git (?:branch\b.* -(?:D|-delete)|tag -d|stash (?:drop|clear)|rm|filter-branch|reflog expire|gc\b.* --prune)/,
    does: 'deletes from the repository',
  },
  {
    pattern:
      /^(?:docker|podman) (?:rm|rmi|kill|(?:\w+ )?prune|(?:volume|image|container|network) rm|compose\b.* down\b.* -\S*v)/,
    does: 'deletes containers, images or volumes',
  },
  {
    pattern: /^(?:kubectl|oc)\b.* (?:delete|drain|replace\b.* --force|scale\b.*=0)(?: |$)/,
    does: 'deletes from the cluster',
  },
  { pattern: /^helm\b.* (?:uninstall|delete|rollback)(?: |$)/, does: 'removes a release' },
  {
    pattern: /^(?:terraform|tofu|pulumi)\b.* (?:destroy|apply|up)(?: |$)/,
    does: 'changes or destroys infrastructure',
  },
  {
    pattern:
      /^(?:aws|gcloud|az|doctl|flyctl|heroku)\b.* (?:\S+[:-])?(?:rm|rb|delete|terminate|destroy|purge|remove)(?:[:-]\S+)?(?: |$)/,
    does: 'deletes in a cloud',
  },
  {
    pattern:
      /^(?:npm|pnpm|yarn|cargo|gem|twine|poetry) (?:publish|unpublish|yank|push|upload|deprecate)(?: |$)/,
    does: 'publishes for everyone',
  },
  { pattern: /^gh\b.* delete(?: |$)/, does: 'deletes on GitHub' },
  {
    pattern: /^(?:chmod|chown|chgrp)\b.* -(?:-recursive|[a-z]*R)/,
    does: 'changes the rights of a whole folder',
  },
  { pattern: /^find\b.* -delete(?: |$)/, does: 'deletes files' },
  { pattern: /^rsync\b.* --(?:delete\S*|remove-source-files)/, does: 'deletes files' },
  { pattern: /^(?:systemctl|service)\b.* (?:stop|disable|mask)(?: |$)/, does: 'stops a service' },
  {
    pattern:
      /^(?:apt|apt-get|dnf|yum|brew|pip|pip3|npm|pnpm)\b.* (?:remove|purge|uninstall|autoremove)(?: |$)/,
    does: 'removes software',
  },
  { pattern: /^redis-cli\b.* (?:flush(?:all|db)|del)(?: |$)/i, does: 'deletes from a database' },
  {
    pattern: /^(?:curl|http|https|wget)\b.* (?:-X ?|--request[= ]|--method=)?DELETE(?: |$)/,
    does: 'sends an HTTP DELETE',
  },
  { pattern: / --force(?: |=|$)/, does: 'skips a check (--force)' },
  { pattern: /^(?:mv|cp|ln)\b.* -[a-z]*f/, does: 'overwrites files' },
]

/** Programs that run a command line from their arguments or their input. */
const runners: ReadonlySet<string> = new Set([
  ...['sh', 'bash', 'zsh', 'dash', 'ksh', 'fish', 'csh', 'cmd', 'powershell', 'pwsh'],
  ...[
    'eval',
    'exec',
    'source',
    '.',
    'ssh',
    'docker',
    'podman',
    'kubectl',
    'watch',
    'su',
    'script',
    'parallel',
  ],
  ...['python', 'python3', 'node', 'perl', 'ruby', 'php', 'osascript', 'awk'],
  ...['psql', 'mysql', 'mariadb', 'sqlite3', 'sqlcmd', 'mongosh', 'clickhouse-client'],
])
const shells: ReadonlySet<string> = new Set([
  ...[
    'sh',
    'bash',
    'zsh',
    'dash',
    'ksh',
    'fish',
    'csh',
    'eval',
    'source',
    '.',
    'python',
    'python3',
    'node',
    'perl',
    'ruby',
    'php',
  ],
])

/** Programs that run a command elsewhere, after the name of a host, container or user. */
const elsewhere: ReadonlySet<string> = new Set([
  'ssh',
  'docker',
  'podman',
  'kubectl',
  'su',
  'watch',
  'parallel',
])

/** Programs and shell keywords that run the following command; some of their options take a value. */
const prefixes: ReadonlySet<string> = new Set([
  ...[
    'env',
    'nohup',
    'time',
    'command',
    'builtin',
    'exec',
    'nice',
    'ionice',
    'stdbuf',
    'timeout',
    'xargs',
    'then',
    'do',
    'else',
    '!',
  ],
  ...['if', 'while', 'until', 'sudo', 'doas'],
])
/** Options of `find` that run a command for each file. */
const handsOver = new Set(['-exec', '-execdir', '-ok', '-okdir'])

/** Returns why a command line may destroy data, or cannot be analyzed; `undefined` = no known risk. */
export function findInCommand(line: string, depth = 0): string | undefined {
  const sql = findInSql(line)
  if (sql !== undefined) return sql
  if (/>\s*\/dev\/(?!null\b|std|tty|fd\b)/.test(line)) return '`>` to a device overwrites it.'
  for (const command of splitCommands(line)) {
    const found = findInWords(command, depth)
    if (found !== undefined) return found
  }
  return undefined
}

const maxDepth = 4

function findInWords(command: ShellCommand, depth: number): string | undefined {
  const words = skipPrefixes(command.words)
  const [first = ''] = words
  const name = nameOf(first)
  const does = programs[name] ?? (name.startsWith('mkfs.') ? programs.mkfs : undefined)
  if (does !== undefined && !(name === 'crontab' && words.includes('-l'))) return `\`${name}\` ${does}.`
  if (/^\$|^\w*\$/.test(first)) return 'The name of its command is not written out.'
  if (name === 'alias' && words.length > 1) return '`alias` gives a command another name.'
  if (command.isPiped && shells.has(name)) return `\`${name}\` runs what another command prints.`
  const joined = [name, ...words.slice(1)].join(' ')
  const shape = shapes.find(({ pattern }) => pattern.test(joined))
  if (shape !== undefined) return `\`${briefly(joined)}\` ${shape.does}.`
  const handed = words.findIndex((word) => handsOver.has(word))
  if (handed !== -1) {
    const found = findInWords({ ...command, words: words.slice(handed + 1) }, depth)
    if (found !== undefined) return found
  }
  if (!runners.has(name) || depth >= maxDepth) return undefined
  if (elsewhere.has(name)) {
    const at = words.findIndex((word, index) => index > 0 && programs[nameOf(word)] !== undefined)
    if (at !== -1) return findInWords({ ...command, words: words.slice(at) }, depth + 1)
  }
  // Any argument of a runner may be a command line, quoted or not.
  const inner = [
    ...command.quoted,
    words
      .slice(1)
      .filter((word) => !word.startsWith('-'))
      .join(' '),
  ]
  for (const text of inner) {
    const found = findInCommand(text, depth + 1) ?? findInCode(text)
    if (found !== undefined) return found
  }
  return undefined
}

/** Skips assignments, and programs that run the command unchanged. */
function skipPrefixes(words: readonly string[]): readonly string[] {
  let at = 0
  for (let isPrefixed = false; at < words.length; at++) {
    const word = words[at] ?? ''
    if (/^\w+=/.test(word)) continue
    if (prefixes.has(nameOf(word))) isPrefixed = true
    // Also skips the options of a prefix, such as `sudo -E`, and their numeric values.
    else if (!(isPrefixed && /^(?:-|\d+[smhd]?$)/.test(word))) break
  }
  return words.slice(at)
}

/** The name of a program without its folder and Windows extension. */
const nameOf = (word: string): string =>
  (word.split(/[/\\]/).at(-1) ?? '').toLowerCase().replace(/\.(?:exe|cmd|bat|com)$/, '')

const maxBrief = 40
const briefly = (text: string): string => (text.length <= maxBrief ? text : `${text.slice(0, maxBrief - 1)}…`)

const code =
  /\b(?:rmtree|unlink(?:Sync)?|rmdir(?:Sync)?|rmSync|removedirs|os\.remove|fs\.rm|Remove-Item|unlink_all|delete_all|system\s*\()/

/** Returns why a program text may destroy something; `undefined` = no known risk. */
export function findInCode(text: string): string | undefined {
  const [found] = code.exec(text) ?? []
  return found === undefined ? undefined : `\`${found}\` deletes files or runs a command.`
}

const comments = /\/\*[\s\S]*?\*\/|--[^\n]*/g
const statements: readonly RegExp[] = [
  /\bDROP\s+(?:TABLE|DATABASE|SCHEMA|INDEX|VIEW|USER|ROLE|COLUMN|COLLECTION|KEYSPACE)\b/i,
  /\bDELETE\s+FROM\b/i,
  /\bTRUNCATE\s+(?:TABLE\s+)?[\w"`[]/i,
  /\bALTER\s+TABLE\b[^;]*\bDROP\b/i,
  /\bUPDATE\s+[\w."`[\]]+\s+SET\b(?![^;]*\bWHERE\b)/i,
]

/** Returns why SQL may destroy something; `undefined` = no known risk. */
export function findInSql(text: string): string | undefined {
  const plain = text.replaceAll(comments, ' ')
  for (const pattern of statements) {
    const [found] = pattern.exec(plain) ?? []
    if (found === undefined) continue
    const words = found.replaceAll(/\s+/g, ' ')
    return /^UPDATE/i.test(words)
      ? '`UPDATE` without `WHERE` changes every row.'
      : `\`${briefly(words)}\` deletes from a database.`
  }
  return /\bmutation\b[\s\S]*\b(?:delete|remove|destroy)\w*\s*\(/i.test(plain)
    ? 'A mutation of GraphQL deletes something.'
    : undefined
}
