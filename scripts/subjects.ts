/**
 * Checks the subjects of the commits since `first`, or since the given one: `node --import tsx scripts/subjects.ts
 * origin/main`. CI runs this; a clone without that commit has nothing to check.
 */
import { execFileSync } from 'node:child_process'
import { pathToFileURL } from 'node:url'

/** The last commit before subjects were checked. */
const first = 'dc7557ff'
const maxChars = 72

/** Verbs that may begin a subject, in the imperative. */
const verbs: ReadonlySet<string> = new Set(
  `accept adapt add admit advance align allow announce answer append apply approve ask assert assess attach audit authenticate avoid await
  backfill begin bound break bring buffer build bump bundle cache call cancel cap carry catch change charge check checkpoint choose clamp
  clarify clean clear close collapse collect colour combine commit compact compare compile complete compress compute configure confirm
  connect consume continue convert copy correct count cover create cut debounce decide declare decode decouple deduplicate default
  defer define delay delete deliver deny deprecate derive describe detect digest disable disconnect dispatch display distinguish document draw drop
  echo embed emit empty enable encode end enforce ensure enter erase escape exclude execute exit expand expect expire explain expose export
  extend extract fail fetch fill filter find finish fit fix flag flatten flush fold follow forget format forward free freeze gather
  generate give grant group guard guide handle hash hide highlight hold honour identify ignore import improve include increase indent index infer
  inform inherit initialize inline insert inspect install introduce invalidate invite isolate join judge keep kick kill know label lay lazy-load lead
  leave let lift limit link list listen load lock log look lose lower make map mark mask match measure mend mention merge migrate mirror mock move
  mute name narrow negotiate normalize note notify number offer omit open order own pace page pair parse pass paste pause pay persist pick
  pin place poll port post prefer prepare preserve prevent print probe propose protect prove provide prune publish put queue quote raise
  rank read rebase rebuild recall receive recognize recommend reconnect record recover redact reduce refactor refer refuse register
  reject relay release reload remove rename render renew reopen reorder repair repeat replace replay reply report request require
  reserve reset resolve respond restart restore restrict resume retain retry return reuse reveal revert review revoke reword rewrite run save
  say scan schedule scope scroll seal search select send separate serve set share shorten show shrink shut sign simplify skip sort specify spell
  speed split stamp start state steer stop store stream strip style subscribe suggest summarize support suppress swap switch sync
  synchronize take talk test throttle throw tighten time trace track translate treat trim truncate try turn type unify update upgrade use validate
  verify vendor wait warn watch widen withdraw withhold wrap write yield`.split(/\s+/),
)

/** The problem of a subject; `undefined` = it is fine. Merges and reverts have the subjects that git gives them. */
export function checkSubject(subject: string): string | undefined {
  if (/^(?:Merge|Revert) /.test(subject)) return undefined
  const [, words] = /^[a-z0-9-]+(?:, [a-z0-9-]+)*: (.+)$/.exec(subject) ?? []
  if (words === undefined) return 'Begin with a scope: `gateway: reject frames without a subprotocol`.'
  if (subject.length > maxChars) return `It has ${subject.length} characters; ${maxChars} fit on a line.`
  const [verb = ''] = words.split(' ')
  if (!verbs.has(verb))
    return `"${verb}" is not a verb of scripts/subjects.ts. Use the imperative, or add the verb.`
  return undefined
}

function listSubjects(since: string): string[] {
  try {
    const range = `${since}..HEAD`
    return execFileSync('git', ['log', '--no-merges', '--format=%s', range], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
      .split('\n')
      .filter(Boolean)
  } catch {
    return []
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [, , since = first] = process.argv
  for (const subject of listSubjects(since)) {
    const problem = checkSubject(subject)
    if (problem === undefined) continue
    process.exitCode = 1
    console.error(`${subject}\n  ${problem}`)
  }
}
