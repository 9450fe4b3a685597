import { type ComponentChildren, toChildArray } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { withSeparators } from '../amounts.ts'
import { isRefusal, type ListPage } from '../client.ts'
import { titleOf } from '../place.ts'
import { linkBackTo, place } from '../route.ts'
import type { Loaded } from '../use-operator.ts'
import { Button } from './button.tsx'
import { type FilterProps, Filters } from './field.tsx'

type ScreenProps = {
  /** By default the object that the screen shows, or the name of the screen. */
  title?: string
  /** The list that a screen of one object leads back to, and the name of its rows. */
  back?: readonly [screen: string, rows: string]
  /** One sentence about the screen, or links to its lists. */
  about?: ComponentChildren
  actions?: ComponentChildren
  filters?: readonly FilterProps[]
  children?: ComponentChildren
}

export const Screen = ({ title, back, about, actions, filters = [], children }: ScreenProps) => (
  <div class="stack">
    <header class="head">
      <div>
        <h1 tabIndex={-1}>{title ?? (place.value.id || titleOf(place.value.screen))}</h1>
        <small>
          {toChildArray([back && <a href={linkBackTo(back[0])}>All {back[1]}</a>, about]).map(
            (part, index) => [index > 0 && ' · ', part],
          )}
        </small>
      </div>
      {actions && <div class="row">{actions}</div>}
    </header>
    <Filters of={filters} />
    {children}
  </div>
)

type HeadingProps = { title?: string | undefined; id?: string; actions?: ComponentChildren }

/** The heading of a panel or a dialog, next to its actions. */
const Heading = ({ title, id, actions }: HeadingProps) => (
  <div class="head">
    <h2 id={id}>{title}</h2>
    {actions && <div class="row">{actions}</div>}
  </div>
)

type PanelProps = Omit<HeadingProps, 'id'> & { children: ComponentChildren }

export const Panel = ({ children, ...heading }: PanelProps) => (
  <section class="panel stack">
    {heading.title && <Heading {...heading} />}
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
          <dd>{kind === 'figures' ? withSeparators(value) : value}</dd>
        </div>
      ))}
  </dl>
)

/** An amount alone, without its parties. */
export const Sum = ({ of: amount }: { of: string }) => (
  <strong>{withSeparators(`${amount} GHS`)}</strong>
)

type PaymentProps = { amount: string; from?: ComponentChildren; to: ComponentChildren }

/** The amount and the parties of a call that moves money, for its confirmation. */
export const Payment = ({ amount, from, to }: PaymentProps) => (
  <Facts of={{ Amount: <Sum of={amount} />, From: from, To: to }} />
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
    {retry && !isRefusal(error) && (
      <Button class="small" onClick={retry}>
        Try again
      </Button>
    )}
  </div>
)

export const Loading = () => (
  <p class="empty" role="status">
    Loading…
  </p>
)

/** A document whose file is to be downloaded. */
export const TooLarge = ({ name, href }: { name: string; href: string }) => (
  <Empty of={[`The ${name} is too large for this page`, <a href={href}>Download it as JSON</a>]} />
)

/** Says that figures omit the rows of later pages. */
export const Omitted = ({ rows, of }: { rows: string; of: ListPage<unknown> }) =>
  of.next && (
    <p class="notice warn">
      {rows} before the newest {of.rows.length} are not counted.
    </p>
  )

type DataProps<T> = {
  of: Loaded<T>
  /** Why nothing is loaded yet. */
  none?: EmptyText | false
  children: (data: T) => ComponentChildren
}

/** Shows loaded data. A failed reload is shown above the last data. */
export function Data<T>({ of: { data, error, reload }, none, children }: DataProps<T>) {
  if (none) return <Empty of={none} />
  return (
    <>
      {error && <Failure error={error} retry={reload} />}
      {data !== undefined && children(data)}
      {data === undefined && !error && <Loading />}
    </>
  )
}

type ModalProps = PanelProps & {
  onClose: () => void
  /** Escape does not close it. */
  isKept?: boolean
  kind?: 'drawer'
}

/** A modal dialog, which Escape closes. */
export const Modal = ({ onClose, isKept = false, kind, children, ...heading }: ModalProps) => {
  const element = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => element.current?.showModal(), [])
  return (
    <dialog
      ref={element}
      class={kind}
      aria-labelledby={id}
      // Chromium closes it at a second Escape although “cancel” is prevented; browsers without `closedby` obey it.
      closedby={isKept ? 'none' : 'closerequest'}
      onCancel={(event) => isKept && event.preventDefault()}
      onClose={onClose}
    >
      <div class="fields">
        <Heading {...heading} id={id} />
        {children}
      </div>
    </dialog>
  )
}
