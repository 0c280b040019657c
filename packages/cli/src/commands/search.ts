import type { SearchHit } from '@meup/agent-sdk/http'
import { keepOffMargin, onOneLine, printable } from '@meup/folds'
import { type Command, Option } from 'commander'
import { type ConnectionFlags, createHttpClient, withConnection } from '../lib/connection.js'
import { checkNames } from '../lib/known-names.js'
import { collectNames, parseCount } from '../lib/options.js'
import {
  createDimmer,
  createHighlighter,
  furtherLine,
  getStdoutStyle,
  print,
  printJson,
  printNotice,
} from '../lib/output.js'
import { type PeriodFlags, readPeriodTexts } from '../lib/times.js'

interface SearchFlags extends ConnectionFlags, PeriodFlags {
  readonly from?: readonly string[]
  readonly kind?: readonly string[]
  readonly tool?: string
  readonly outcome?: 'success' | 'error' | 'rejected'
  readonly limit: string
}

export function addSearch(program: Command): void {
  withConnection(program.command('search'), 'print hits as JSON, one a line')
    .description('find what was said, thought or called, newest first')
    .argument('[word...]', 'words that are all said, in any case')
    .option('--from <names>', 'only what these sent: a name, or several with commas', collectNames)
    .option(
      '--kind <kinds>',
      'only such envelopes, such as reasoning.thought or chat,chat.cancel',
      collectNames,
    )
    .option(
      '--tool <tool>',
      'only calls of this tool, as participant/tool or by its name, their results, and what was proposed or refused of it',
    )
    .addOption(
      new Option('--outcome <outcome>', 'only such results, or what was rejected or refused').choices([
        'success',
        'error',
        'rejected',
      ]),
    )
    .option('--since <time>', 'only from then on, such as tuesday, 2026-01-02 or 1h')
    .option('--until <time>', 'only before then')
    .option('--limit <count>', 'only the last ones, up to this number', '20')
    .action(search)
}

async function search(words: readonly string[], flags: SearchFlags): Promise<void> {
  const { from, kind, tool, outcome, json } = flags
  const limit = parseCount(flags.limit, '--limit')
  const query = {
    ...{ from, kind, tool, outcome },
    text: words.length === 0 ? undefined : words.join(' '),
    ...readPeriodTexts(flags),
    limit: Math.min(limit, pageSize),
  }
  const http = createHttpClient(flags)
  let left = limit
  for await (const { hits } of http.search(query)) {
    for (const hit of hits.slice(0, left)) json ? printJson(hit) : print(formatHit(hit))
    left -= hits.length
    if (left <= 0) return
  }
  if (left < limit) return
  await checkNames(http, { from, kind, tool })
  printNotice('nothing was found')
}

/** Hits per request: the gateway's maximum. */
const pageSize = 1000

/** Formats a hit: `2026-11-26T03:33:02.120Z  #812  bob  reasoning.thought  the config says the port` */
function formatHit({ ts, seq, from, kind, tool, snippet, ranges }: SearchHit): string {
  const style = getStdoutStyle()
  const [dim, name] = [createDimmer(style), createHighlighter(style)]
  const what = tool === undefined ? kind : `${kind} ${style.tool(onOneLine(tool))}`
  return `${dim(`${ts}  #${seq}`)}  ${name(onOneLine(from), from)}  ${dim(what)}  ${keepOffMargin(markWords(snippet, ranges, style.tool), furtherLine)}`
}

function markWords(text: string, ranges: SearchHit['ranges'], mark: (word: string) => string): string {
  let [marked, last] = ['', 0]
  for (const [start, end] of ranges) {
    marked += printable(text.slice(last, start)) + mark(printable(text.slice(start, end)))
    last = end
  }
  return marked + printable(text.slice(last))
}
