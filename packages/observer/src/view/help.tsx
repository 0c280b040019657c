import type { VNode } from 'preact'
import { Checkbox, CloseDialog, Dialog } from './shared/parts.js'
import { viewNames } from './view-tabs.js'

const keys = [
  ['j k', 'next, previous line'],
  [viewNames.map((_, index) => index + 1).join(' '), viewNames.join(', ')],
  ['l h', 'unfold, fold'],
  ['] [', 'unfold, fold everything'],
  ['Enter', 'look at the envelope'],
  ['/', 'search'],
  ['f', 'to the filters'],
  ['.', 'to the present, and the live end'],
  ['Space', 'stop time, or play'],
  ['p', 'to what waits for a decision'],
  ['a x', 'approve, reject: on the line of a proposal'],
  ['r', 'thoughts of others: all, starts and ends, none'],
  ['y', 'copy a link to the line'],
  ['Escape', 'close what is open'],
] as const

interface HelpProps {
  readonly hasKeys: boolean
  readonly setKeys: (hasKeys: boolean) => void
  readonly close: () => void
}

export function Help({ hasKeys, setKeys, close }: HelpProps): VNode {
  return (
    <Dialog label="Keys" close={close}>
      <h2>Keys</h2>
      <dl>
        {keys.map(([key, meaning]) => (
          <div key={key}>
            <dt>
              {key.split(' ').map((each) => (
                <kbd key={each}>{each}</kbd>
              ))}
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
      <Checkbox checked={hasKeys} set={setKeys}>
        Use these keys
      </Checkbox>
      <CloseDialog />
    </Dialog>
  )
}
