import type { ComponentChildren } from 'preact'

interface Fact {
  readonly term: string
  readonly figure: ComponentChildren
  readonly unit?: string
}

/** Terms with their figures. */
export const Facts = ({ facts }: { readonly facts: readonly Fact[] }) => (
  <dl class="facts">
    {facts.map(({ term, figure, unit }) => (
      <div key={term}>
        <dt>{term}</dt>
        <dd>
          {figure}
          {unit === undefined ? null : <small> {unit}</small>}
        </dd>
      </div>
    ))}
  </dl>
)

/** A list of rows; each child is an `<li>`. */
export const Rows = ({ children }: { readonly children: ComponentChildren }) => (
  <ul class="rows">{children}</ul>
)
