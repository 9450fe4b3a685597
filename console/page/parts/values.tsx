import { computed, signal } from '@preact/signals'
import { serviceNow } from '../client.ts'
import { debitStatuses, type Tone } from '../debit-statuses.ts'
import { linkTo } from '../place.ts'

/** Values of the service as text: references, statuses, times, JSON. */

type LinkProps = { id: string; to?: string; mayWrap?: boolean }

/** Links to an object, by default the debit or the batch with this reference. */
export const Link = ({
  id,
  to = id.startsWith('STL-') ? 'batch' : 'debit',
  mayWrap,
}: LinkProps) => (
  <a class={mayWrap ? undefined : 'nowrap'} href={linkTo(to, id)}>
    {id}
  </a>
)

/** The tones of the words that are no statuses of a debit. */
const TONES = {
  delivered: 'good',
  active: 'good',
  live: 'good',
  healthy: 'good',
  resolved: 'good',
  granted: 'good',
  normal: 'good',
  abandoned: 'bad',
  disabled: 'bad',
  suspended: 'bad',
  denied: 'bad',
  exhausted: 'bad',
  failing: 'warn',
  open: 'warn',
  expired: '',
  inactive: '',
} as const satisfies Record<string, Tone | ''>

type OtherWord = keyof typeof TONES
type ShownStatus = keyof typeof debitStatuses | OtherWord

const isOther = (value: ShownStatus): value is OtherWord => Object.hasOwn(TONES, value)

/** Batches, deliveries and refunds share the names of statuses, and their tones. */
const toneOf = (value: ShownStatus): Tone | '' =>
  isOther(value) ? TONES[value] : debitStatuses[value].tone

export const Status = ({ value }: { value: ShownStatus }) => (
  <span class={`status ${toneOf(value)}`}>{value.replaceAll('_', ' ')}</span>
)

const localSecond = signal(Date.now())
setInterval(() => {
  localSecond.value = Date.now()
}, 1_000)

/** The service's clock, each second and after each move. */
const second = computed(() => serviceNow(localSecond.value))

/** Changes once a day, so that times are not drawn each second. */
const today = computed(() => new Date(second.value).toISOString().slice(0, 10))

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')

const dateText = (iso: string): string => {
  const [, month, date] = iso.slice(0, 10).split('-').map(Number)
  return `${date} ${MONTHS[(month ?? 1) - 1]} ${iso.slice(11, 19)}`
}

/** Formats `2026-11-23` as `23 Nov 2026`. */
export const dayText = (day: string): string => {
  const [year, month, date] = day.split('-').map(Number)
  return `${date} ${MONTHS[(month ?? 1) - 1]} ${year}`
}

/** Formats in UTC, with the date unless it is today. */
const timeText = (iso: string): string => {
  const [day = '', time = ''] = iso.split('T')
  const clock = time.slice(0, 8)
  if (day === today.value) return clock
  return dateText(iso)
}

export const Time = ({ at }: { at: string | null | undefined }) =>
  at ? (
    <time class="nowrap" dateTime={at} title={at}>
      {timeText(at)}
    </time>
  ) : null

export const durationText = (milliseconds: number): string => {
  const seconds = Math.max(0, Math.round(milliseconds / 1000))
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
  if (seconds < 86_400)
    return `${Math.floor(seconds / 3_600)} h ${Math.floor(seconds / 60) % 60} min`
  return `${Math.floor(seconds / 86_400)} d ${Math.floor(seconds / 3_600) % 24} h`
}

/** Shows the time that remains until `at` by the service's clock. */
export const Countdown = ({ at }: { at: string }) => {
  const remaining = Date.parse(at) - second.value
  return <span title={at}>{remaining > 0 ? `in ${durationText(remaining)}` : 'due now'}</span>
}

export const ServiceTime = () => {
  const iso = new Date(second.value).toISOString()
  return (
    <time dateTime={iso}>
      {dayText(iso.slice(0, 10))} {iso.slice(11, 19)} UTC
    </time>
  )
}

/** Formats JSON text for reading; other text stays as it is. */
export const prettyJson = (text: string): string => {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

/** Shows tags and line breaks of a receiver's text, which the service has escaped. */
export const receivedText = (text: string): string =>
  prettyJson(
    text.replaceAll(/\\u00(3c|3e|26|0a|09)/g, (_, hex) => String.fromCharCode(Number(`0x${hex}`))),
  )

export const headersText = (headers: readonly (readonly [string, string])[]): string =>
  headers.map(([name, value]) => `${name}: ${value}`).join('\n')

/** Shows text in a box that scrolls, also by the keyboard. */
export const Code = ({ label, text }: { label: string; text: string }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls the focused box
  <section class="code" aria-label={label} tabIndex={0}>
    <pre>{text}</pre>
  </section>
)
