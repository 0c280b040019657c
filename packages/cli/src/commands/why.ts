import { onOneLine } from '@meup/folds'
import type { AnyEnvelope } from '@meup/protocol'
import type { Command } from 'commander'
import { canAsk } from '../lib/confirm.js'
import { type ConnectionFlags, createHttpClient, withConnection } from '../lib/connection.js'
import { chooseLine, print, printJson, printNotice } from '../lib/output.js'
import { writeFile } from '../lib/write-file.js'
import { exportEvidence } from '../why/evidence.js'
import { type Explanation, explainAct } from '../why/explanation.js'
import { describeAct, findActs } from '../why/find-acts.js'

export function addWhy(program: Command): void {
  withConnection(program.command('why'), 'print one JSON object')
    .description(
      'explain an answer, a call or a refusal: who asked, what was thought and looked at, by which right',
    )
    .argument(
      '[what...]',
      "words that it says, such as old.log; or '#48', its place in the log; its id, or how that begins; or a turn, such as 3 or bot turn 3 (default: the last act)",
    )
    .option('--thread <agent>', 'whose turn a number means (default: of who answered last)')
    .option('--export <file>', 'write the envelopes with their proof, for meup audit verify <file>')
    .action(printWhy)
}

interface WhyFlags extends ConnectionFlags {
  readonly thread?: string
  readonly export?: string
}

async function printWhy(words: readonly string[], flags: WhyFlags): Promise<void> {
  const http = createHttpClient(flags)
  const { thread, export: file } = flags
  const acts = await findActs(http, words.join(' '), { thread })
  const act = await choose(acts, flags)
  if (act === undefined) return
  const explanation = await explainAct(http, act)
  if (flags.json) printJson({ ...explanation.why, ...describeExplanation(explanation) })
  else {
    // Imported lazily, because it loads a YAML parser, which other commands do not need.
    const { formatExplanation } = await import('../why/format-explanation.js')
    for (const line of formatExplanation(explanation, http)) print(line)
  }
  if (file === undefined) return
  await writeFile(exportEvidence(http, explanation), file)
  printNotice(`${file} is written; meup audit verify ${file} checks it without a gateway`)
}

const describeExplanation = ({ of, model }: Explanation): object => ({
  envelope: of,
  ...(model && { model }),
})

/** Lets the user choose an act. Without a terminal, takes the newest and lists the others. */
async function choose(acts: readonly AnyEnvelope[], { json }: WhyFlags): Promise<AnyEnvelope | undefined> {
  const [newest, ...others] = acts
  if (others.length === 0) return newest
  if (canAsk() && !json) {
    const index = await chooseLine('why which of these?', acts.map(describeAct))
    return index === undefined ? undefined : acts[index]
  }
  printNotice(`the newest of ${acts.length} acts; the others are`)
  for (const each of others) printNotice(`  ${onOneLine(describeAct(each))}`)
  return newest
}
