import { computed, signal } from '@preact/signals'
import { type ComponentChildren, toChildArray } from 'preact'
import type { NounName } from '../../../shared/operator/results.ts'
import type { DeliveryResult } from '../../../shared/views/delivery.ts'
import { mayUse, serviceNow } from '../client.ts'
import { type debitStatuses, displayOf, type Tone } from '../debit-statuses.ts'
import { linkTo } from '../place.ts'

/** Values of the service as text: references, statuses, times, JSON. */

/** Writes a name of the service in words. */
export const words = (name: string): string => name.replaceAll('_', ' ')

type LinkProps = { id: string; to?: 'bank' | 'provider' | 'webhook'; mayWrap?: boolean }

/** Links to an object if the operator may read it, by default the debit or the batch with this reference. */
export const Link = ({ id, to, mayWrap }: LinkProps) => {
  const noun: NounName = to ?? (id.startsWith('STL-') ? 'settlement' : 'debit')
  if (!mayUse(noun)) return id
  const screen = noun === 'settlement' ? 'batch' : noun
  return (
    <a class={mayWrap ? undefined : 'nowrap'} href={linkTo(screen, id)}>
      {id}
    </a>
  )
}

/** Links the reference of a debit or a batch; other names stay as they are. */
export const objectName = (id: string) => (/^\w+-\d{8}-\w{6}$/.test(id) ? <Link id={id} /> : id)

/** A value with notes below it, each on its line; an absent one is omitted. */
export const Noted = ({ of, children }: { of: ComponentChildren; children: ComponentChildren }) => (
  <>
    {of}
    {toChildArray(children).map((note, index) => (
      <small key={index} class="note">
        {note}
      </small>
    ))}
  </>
)

/** Who did something. */
export const By = ({ name, label = 'by ' }: { name: string; label?: string }) => (
  <>
    {label}
    <span class="mono">{name}</span>
  </>
)

/** The words that are no statuses of a debit, by their tones. */
const tones = {
  ...{ active: 'good', delivered: 'good', granted: 'good', healthy: 'good', live: 'good' },
  ...{ normal: 'good', resolved: 'good', failing: 'warn', open: 'warn' },
  ...{ abandoned: 'bad', denied: 'bad', disabled: 'bad', exhausted: 'bad', suspended: 'bad' },
  ...{ expired: '', inactive: '' },
} as const satisfies Record<string, Tone | ''>

type StatusWord = keyof typeof debitStatuses | keyof typeof tones

/** A word or a sentence in the colour of its meaning. */
export const Mark = ({ tone, children }: { tone: Tone | ''; children: ComponentChildren }) => (
  <span class={`status ${tone}`}>{children}</span>
)

/** Whether something is as it should be. */
export const Verdict = ({ isGood, children }: { isGood: boolean; children: ComponentChildren }) => (
  <Mark tone={isGood ? 'good' : 'bad'}>{children}</Mark>
)

/** Batches, deliveries and refunds share the names of statuses, and their tones. */
export const Status = ({ value }: { value: StatusWord }) => (
  <Mark tone={displayOf(value)?.tone ?? (tones as Record<string, Tone | ''>)[value] ?? ''}>
    {words(value)}
  </Mark>
)

const localSecond = signal(Date.now())
setInterval(() => {
  localSecond.value = Date.now()
}, 1_000)

/** The service's clock, each second and after each move. */
const second = computed(() => serviceNow(localSecond.value))

/** Changes once a day, so that times are not drawn each second. */
const today = computed(() => new Date(second.value).toISOString().slice(0, 10))

/** The parts of `Mon, 23 Nov 2026 08:00:00 GMT`. */
const partsOf = (iso: string) => {
  const [, date, month, year, time] = new Date(iso).toUTCString().split(' ')
  return [`${Number(date)} ${month}`, year, time] as const
}

/** Formats `2026-11-23` as `23 Nov 2026`. */
export const dayText = (day: string): string => partsOf(day).slice(0, 2).join(' ')

/** Shows a time in UTC, with the date unless it is today, and with another year. */
export const Time = ({ at, label = '' }: { at: string | null | undefined; label?: string }) => {
  if (!at) return null
  const [date, year, time] = partsOf(at)
  const day = at.startsWith(today.value.slice(0, 4)) ? date : `${date} ${year}`
  return (
    <time class="nowrap" dateTime={at} title={at}>
      {`${label} ${at.startsWith(today.value) ? '' : `${day} `}${time}`.trim()}
    </time>
  )
}

const UNITS = [
  ['d', 86_400, 'h', 3_600],
  ['h', 3_600, 'min', 60],
  ['min', 60, 's', 1],
] as const

const durationText = (milliseconds: number): string => {
  const seconds = Math.round(milliseconds / 1000)
  const [unit, length, part, partLength] = UNITS.find((row) => seconds >= row[1]) ?? []
  if (!length) return `${seconds} s`
  return `${Math.floor(seconds / length)} ${unit} ${Math.floor((seconds % length) / partLength)} ${part}`
}

/** Shows the time that remains until `at` by the service's clock. */
export const Countdown = ({ at, label = '' }: { at: string; label?: string }) => {
  const remaining = Date.parse(at) - second.value
  const text = remaining > 0 ? `in ${durationText(remaining)}` : 'due now'
  return <span title={at}>{`${label} ${text}`.trim()}</span>
}

type Attempts = Pick<DeliveryResult, 'attempt_count' | 'max_attempts' | 'next_attempt_at'>

/** How often a delivery was tried, and when it is tried again. */
export const AttemptCount = ({ of }: { of: Attempts }) => (
  <small>
    {of.attempt_count} of {of.max_attempts} attempts
    {of.next_attempt_at && ', next '}
    {of.next_attempt_at && <Countdown at={of.next_attempt_at} />}
  </small>
)

export const ServiceTime = () => {
  const iso = new Date(second.value).toISOString()
  return (
    <time dateTime={iso}>
      {dayText(iso)} {iso.slice(11, 19)} UTC
    </time>
  )
}

/** Keeps the decimals of amounts. */
const asWritten = (_: string, value: unknown, context?: { source?: string }) =>
  typeof value === 'number' && context?.source ? JSON.rawJSON(context.source) : value

/** Formats JSON text for reading; other text stays as it is. */
export const prettyJson = (text: string): string => {
  try {
    return JSON.stringify(JSON.parse(text, asWritten), null, 2)
  } catch {
    return text
  }
}

/** Shows text in a box that scrolls, also by the keyboard. */
export const Code = ({ label, text }: { label: string; text: string }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls the focused box
  <section class="code" aria-label={label} tabIndex={0}>
    <pre>{text}</pre>
  </section>
)
