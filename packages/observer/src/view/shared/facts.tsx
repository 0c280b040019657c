import { type ComponentChildren, Fragment, type VNode } from 'preact'

/** Names with what each has, in a list; `undefined` and `''` are left out. */
export const Facts = ({
  of,
  kind,
}: {
  of: readonly (readonly [string, ComponentChildren])[]
  kind?: string
}): VNode => (
  <dl class={kind}>
    {of.map(
      ([name, value]) =>
        value !== undefined &&
        value !== '' && (
          <Fragment key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </Fragment>
        ),
    )}
  </dl>
)
