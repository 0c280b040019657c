import { type ComponentChildren, Fragment, type VNode } from 'preact'

/** A list of names with their values. A name whose value is `undefined` or `''` is left out. */
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
