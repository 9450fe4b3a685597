import type { ComponentChildren } from 'preact'
import { withSeparators } from '../amounts.ts'
import { CallError } from '../client.ts'
import { linkBackTo } from '../route.ts'
import type { Loaded } from '../use-operator.ts'
import { type FilterProps, Filters } from './filters.tsx'
import { Heading } from './modal.tsx'

type ScreenProps = {
  title: ComponentChildren
  /** The list that a screen of one object leads back to, and the name of its rows. */
  back?: readonly [screen: string, rows: string]
  /** What the screen shows, in one sentence. */
  about?: ComponentChildren
  actions?: ComponentChildren
  filters?: readonly FilterProps[]
  children: ComponentChildren
}

export const Screen = ({ title, back, about, actions, filters = [], children }: ScreenProps) => (
  <div class="stack">
    <header class="head">
      <div>
        <h1 tabIndex={-1}>{title}</h1>
        <small>
          {back && <a href={linkBackTo(back[0])}>All {back[1]}</a>}
          {back && about && ' · '}
          {about}
        </small>
      </div>
      {actions && <div class="row">{actions}</div>}
    </header>
    <Filters of={filters} />
    {children}
  </div>
)

type PanelProps = {
  title?: string | undefined
  actions?: ComponentChildren
  children: ComponentChildren
}

export const Panel = ({ title, actions, children }: PanelProps) => (
  <section class="panel">
    {title && <Heading title={title} actions={actions} />}
    {children}
  </section>
)

type FactsProps = { of: Record<string, ComponentChildren>; kind?: 'facts' | 'figures' }

/** Shows values by their names; an empty one is omitted. */
export const Facts = ({ of, kind = 'facts' }: FactsProps) => (
  <dl class={kind}>
    {Object.entries(of)
      .filter(([, value]) => value === 0 || (Array.isArray(value) ? value.length > 0 : value))
      .map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{withSeparators(value)}</dd>
        </div>
      ))}
  </dl>
)

/** Why there is nothing, and what changes that. */
export type EmptyText = readonly [title: string, text?: ComponentChildren]

export const Empty = ({ of: [title, text] }: { of: EmptyText }) => (
  <div class="empty">
    <strong>{title}</strong>
    {text}
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

export const Loading = () => (
  <p class="empty" role="status">
    Loading…
  </p>
)

type DataProps<T> = { of: Loaded<T>; children: (data: T) => ComponentChildren }

/** Shows loaded data. A failed reload is shown above the last data. */
export function Data<T>({ of: { data, error, reload }, children }: DataProps<T>) {
  return (
    <>
      {error && <Failure error={error} retry={reload} />}
      {data !== undefined && children(data)}
      {data === undefined && !error && <Loading />}
    </>
  )
}
