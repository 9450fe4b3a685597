import type { ComponentChildren } from 'preact'
import { withSeparators } from '../amounts.ts'
import { CallError } from '../client.ts'
import type { Loaded } from '../use-operator.ts'
import { type FilterProps, Filters } from './filters.tsx'

export type ScreenProps = {
  title: ComponentChildren
  /** What the screen shows, in one sentence. */
  about?: ComponentChildren
  actions?: ComponentChildren
  filters?: readonly FilterProps[]
  children: ComponentChildren
}

export const Screen = ({ title, about, actions, filters = [], children }: ScreenProps) => (
  <div class="stack">
    <header class="head">
      <div>
        <h1 tabIndex={-1}>{title}</h1>
        {about && <small>{about}</small>}
      </div>
      {actions && <div class="row">{actions}</div>}
    </header>
    {filters.length > 0 && <Filters of={filters} />}
    {children}
  </div>
)

type PanelProps = { title?: string; actions?: ComponentChildren; children: ComponentChildren }

export const Panel = ({ title, actions, children }: PanelProps) => (
  <section class="panel">
    {title &&
      (actions ? (
        <div class="head">
          <h2>{title}</h2>
          <div class="row">{actions}</div>
        </div>
      ) : (
        <h2>{title}</h2>
      ))}
    {children}
  </section>
)

type FactsProps = { rows: readonly (readonly [name: string, value: ComponentChildren])[] }

/** Shows names and values; an empty value is omitted. */
export const Facts = ({ rows }: FactsProps) => (
  <dl class="facts">
    {rows
      .filter(
        ([, value]) => value !== null && value !== undefined && value !== '' && value !== false,
      )
      .map(([name, value]) => (
        <>
          <dt>{name}</dt>
          <dd>{withSeparators(value)}</dd>
        </>
      ))}
  </dl>
)

export const Figures = ({ rows }: FactsProps) => (
  <dl class="figures">
    {rows.map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>{withSeparators(value)}</dd>
      </div>
    ))}
  </dl>
)

/** Says why a list is empty and what fills it. */
export const Empty = ({ title, children }: { title: string; children?: ComponentChildren }) => (
  <div class="empty">
    <strong>{title}</strong>
    {children}
  </div>
)

export const Failure = ({ error, retry }: { error: Error; retry?: (() => void) | undefined }) => (
  <div class="notice bad" role="alert">
    {error.message}
    {retry && !(error instanceof CallError && error.isRefusal) && (
      <button type="button" class="small" onClick={retry}>
        Try again
      </button>
    )}
  </div>
)

type DataProps<T> = { of: Loaded<T>; children: (data: T) => ComponentChildren }

/** Shows loaded data. A failed reload is shown above the last data. */
export function Data<T>({ of: { data, error, reload }, children }: DataProps<T>) {
  return (
    <>
      {error && <Failure error={error} retry={reload} />}
      {data !== undefined && children(data)}
      {data === undefined && !error && (
        <p class="empty" role="status">
          Loading…
        </p>
      )}
    </>
  )
}
