import type { VNode } from 'preact'
import { CloseDialog, Dialog } from './shared/dialog.js'
import { viewNames } from './view-tabs.js'

const keyHelp = [
  ['Ctrl+K', 'go to a name, a question, a view, a command'],
  ['j k', 'next, previous line'],
  [viewNames.map((_, index) => index + 1).join(' '), viewNames.join(', ')],
  ['l h', 'unfold, fold'],
  ['] [', 'unfold, fold everything'],
  ['Enter', 'open a call, else look at the envelope'],
  ['/', 'search'],
  ['f', 'to the filters'],
  ['.', 'to the present, and the live end'],
  ['Space', 'stop time, or play'],
  ['p', 'to what waits for a decision'],
  ['c', 'write a message: @ asks a participant, / commands'],
  ['y n', 'approve, reject: on the card of a proposal'],
  ['i', 'the inbox: everything that waits'],
  ['u', 'undo what was decided together'],
  ['w', 'why: what led to this line'],
  ['r', 'thoughts of others: all, starts and ends, none'],
  ['y', 'copy a link to any other line'],
  ['Escape', 'close what is open'],
] as const

export function Help({ close }: { close: () => void }): VNode {
  return (
    <Dialog label="Keys" close={close}>
      <h2>Keys</h2>
      <dl>
        {keyHelp.map(([key, meaning]) => (
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
      <CloseDialog />
    </Dialog>
  )
}
