import type { SearchHit } from '@meup/agent-sdk/http'
import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { isSeeking, nothingSought, type Sought } from '../../connect/finder.js'
import { momentText, nameText, sortNames, sorts, whenText } from '../../model/index.js'
import { Alert, Name } from '../shared/parts.js'
import { Select } from '../shared/select.js'
import { StepsHeader } from '../shared/steps.js'
import { useSpace } from '../shared/use-space.js'
import '../../style/find.css'

/** Search hits in the whole log, newest first, with controls to narrow the search. */
export function FindPanel({ close }: { close: () => void }): VNode {
  const { session, reveal } = useSpace()
  const { finder } = session
  const { hits, sought, isSearching, isWhole, problem } = finder
  const [chosen, choose] = useState<string | undefined>()
  const at = hits.findIndex(({ id }) => id === chosen)
  const go = (index: number): void => {
    const hit = hits[index]
    if (hit === undefined) return
    choose(hit.id)
    reveal(hit)
  }
  return (
    <aside class="inspector find" aria-label="Search">
      <StepsHeader title="Search" what="hit" {...{ at, go, close }} count={hits.length} />
      <Narrow sought={sought} />
      {problem !== undefined && <Alert>{problem}</Alert>}
      <Hits {...{ hits, at, go }} />
      <p class="dim" role="status">
        {isSearching
          ? 'Searching…'
          : !isSeeking(sought)
            ? 'Type words that are all said, in any order.'
            : hits.length === 0 && isWhole
              ? 'Nothing was found.'
              : ''}
      </p>
      {!isSearching && !isWhole && (
        <button type="button" onClick={() => finder.goOn()}>
          {problem !== undefined
            ? 'Try again'
            : `${finder.searchedTo === null ? 'Nothing so far' : `Searched back to ${momentText(finder.searchedTo)}`} · go on`}
        </button>
      )}
    </aside>
  )
}

const outcomes = ['success', 'error', 'rejected'] as const
const spans = [
  [60, 'the last hour'],
  [1440, 'the last day'],
  [10_080, 'the last week'],
] as const

/** Controls that narrow a search by sender, kind, tool, outcome and time. */
function Narrow({ sought }: { sought: Sought }): VNode {
  const { session } = useSpace()
  const { finder, model } = session
  const narrow = (part: Partial<Sought>): void => finder.find({ ...sought, ...part })
  const [tool, setTool] = useState(sought.tool ?? '')
  return (
    <form
      class="narrow"
      onSubmit={(event) => {
        event.preventDefault()
        narrow({ tool: tool.trim() || undefined })
      }}
    >
      <Select
        label="From"
        value={sought.from ?? ''}
        options={[['', 'everyone'], ...model.people.slice(0, 200).map(({ id }) => [id, id] as const)]}
        set={(from) => narrow({ from: from || undefined })}
      />
      <Select
        label="What"
        value={sought.sort ?? ''}
        options={[['', 'everything'], ...sorts.map((sort) => [sort, sortNames[sort]] as const)]}
        set={(sort) => narrow({ sort: sorts.find((each) => each === sort) })}
      />
      <Select
        label="Outcome"
        value={sought.outcome ?? ''}
        options={[['', 'any'], ...outcomes.map((outcome) => [outcome, outcome] as const)]}
        set={(outcome) => narrow({ outcome: outcomes.find((each) => each === outcome) })}
      />
      <Select
        label="When"
        value={`${sought.minutes ?? ''}`}
        options={[['', 'ever'], ...spans.map(([minutes, text]) => [`${minutes}`, text] as const)]}
        set={(minutes) => narrow({ minutes: minutes === '' ? undefined : Number(minutes) })}
      />
      <label>
        Tool
        <input
          name="tool"
          value={tool}
          placeholder="any"
          maxLength={128}
          spellcheck={false}
          onInput={(event) => setTool(event.currentTarget.value)}
          onBlur={() =>
            (tool.trim() || undefined) !== sought.tool && narrow({ tool: tool.trim() || undefined })
          }
        />
      </label>
      {isSeeking({ ...sought, text: '' }) && (
        <button
          type="button"
          class="link"
          onClick={() => {
            setTool('')
            finder.find({ ...nothingSought, text: sought.text })
          }}
        >
          everywhere
        </button>
      )}
    </form>
  )
}

interface HitsProps {
  readonly hits: readonly SearchHit[]
  readonly at: number
  readonly go: (index: number) => void
}

function Hits({ hits, at, go }: HitsProps): VNode {
  return (
    <ol
      class="hits"
      onKeyDown={(event) => {
        const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
        if (by === 0) return
        event.preventDefault()
        event.stopPropagation()
        const all = [...event.currentTarget.querySelectorAll('button')]
        const at = all.indexOf(document.activeElement as HTMLButtonElement)
        all[Math.min(Math.max(at + by, 0), all.length - 1)]?.focus()
      }}
    >
      {hits.map((hit, index) => (
        <li key={hit.id} aria-current={index === at}>
          <button type="button" onClick={() => go(index)}>
            <span class="hit-about">
              <Name id={hit.from} /> <span class="dim">{nameText(hit.tool ?? hit.kind)}</span>{' '}
              <time class="dim" dateTime={hit.ts} title={momentText(hit.ts)}>
                {whenText(hit.ts)} #{hit.seq}
              </time>
            </span>
            <span class="said">
              <Marked text={hit.snippet} ranges={hit.ranges} />
            </span>
          </button>
        </li>
      ))}
    </ol>
  )
}

function Marked({ text, ranges }: { text: string; ranges: SearchHit['ranges'] }): VNode {
  const starts = [0, ...ranges.map(([, end]) => end)]
  return (
    <>
      {starts.map((start, index) => {
        const [from = text.length, to = text.length] = ranges[index] ?? []
        return [text.slice(start, from), from < to && <mark key={from}>{text.slice(from, to)}</mark>]
      })}
    </>
  )
}
