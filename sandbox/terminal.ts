import { styleText } from 'node:util'
import type { DynamoDBRecord } from 'aws-lambda'
import { type DebitEventName, debitEventTypes } from '../shared/domain/debits/lifecycle.ts'
import { printable } from '../shared/domain/text.ts'
import type { GatewayReply } from './gateway.ts'
import { firstCharge } from './pages/start-page.ts'
import { credentials, customers } from './seeds.ts'

export type Print = (line: string) => void

type Colour = 'cyan' | 'red' | 'yellow'

/** Returns a line with the time and the kind of the event. */
const lineOf = (
  kind: string,
  parts: readonly unknown[],
  colour: Colour = 'cyan',
  stream: NodeJS.WriteStream = process.stdout,
) => {
  const time = styleText('dim', new Date().toISOString().slice(11, 23), { stream })
  return [time, styleText(colour, kind.padEnd(8), { stream }), ...parts].join(' ')
}

const statusColour = (status: number) => (status < 300 ? 'green' : status < 500 ? 'yellow' : 'red')

const referenceIn = (body: string): string => /"reference":"([A-Z0-9-]+)"/.exec(body)?.[1] ?? ''

export const requestLine = ({ request, status, milliseconds, body }: GatewayReply): string =>
  lineOf('request', [
    request.method,
    request.pathname,
    styleText(statusColour(status), String(status)),
    `${milliseconds.toFixed(0)} ms`,
    request.pathname.includes(referenceIn(body)) ? '' : referenceIn(body),
  ])

const eventColour = (type: DebitEventName): 'green' | 'red' | 'magenta' => {
  const row = debitEventTypes[type]
  if (row.adds === 'error_details') return 'red'
  return 'settlement' in row && row.settlement === 'settle' ? 'green' : 'magenta'
}

type ItemImage = NonNullable<NonNullable<DynamoDBRecord['dynamodb']>['NewImage']>

const eventLines = (item: ItemImage, previousCount: number): string[] =>
  (item.history?.L ?? []).slice(previousCount).map((entry) => {
    const type = entry.M?.type?.S as DebitEventName
    const coloured = styleText(eventColour(type), type)
    return lineOf('event', [item.reference?.S, coloured, item.provider?.S])
  })

const DELIVERY_COLOURS: Record<string, 'green' | 'red' | 'yellow'> = {
  delivered: 'green',
  abandoned: 'red',
}

const deliveryLine = (item: ItemImage): string => {
  const status = item.status?.S ?? ''
  const next = item.nextAttemptAt?.S
  return lineOf('delivery', [
    item.reference?.S,
    item.event?.S,
    `attempt ${item.attemptCount?.N} of ${item.attemptsMax?.N}`,
    styleText(DELIVERY_COLOURS[status] ?? 'yellow', status),
    item.last?.M?.responseCode?.N ?? item.last?.M?.cause?.S ?? '',
    next ? `next at ${next.slice(11, 19)}` : '',
  ])
}

export const changeLines = ({ dynamodb }: DynamoDBRecord): string[] => {
  const item = dynamodb?.NewImage
  switch (item?.entity?.S) {
    case 'debit':
      return eventLines(item, dynamodb?.OldImage?.history?.L?.length ?? 0)
    case 'delivery':
      return [deliveryLine(item)]
    default:
      return []
  }
}

type LoggedError = {
  name: string
  message: string
  stack?: readonly string[]
  cause?: LoggedError | undefined
}

/** A line of shared/log.ts. */
export type LogRecord = {
  level: string
  message: string
  error?: LoggedError | string
  [field: string]: unknown
}

const TEXT_MAX = 200

/** Returns the error and its causes. */
const chainOf = (error: LoggedError | undefined): LoggedError[] =>
  error ? [error, ...chainOf(error.cause)] : []

const textOf = ({ message, error }: LogRecord): string => {
  const errors = typeof error === 'object' ? chainOf(error) : []
  const cause = errors.map(({ name, message }) => `${name}: ${message}`).join(', caused by ')
  const parts = [message === 'fault' && error ? '' : message, cause || error]
  const text = printable(parts.filter(Boolean).join(': '))
  return text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX - 1)}…` : text
}

const isScalar = (value: unknown): boolean =>
  [value].flat().every((member) => typeof member !== 'object')

const FRAME = ['level', 'message', 'error', 'timestamp', 'service']
const LEVEL_COLOURS: Record<string, Colour> = { ERROR: 'red', WARN: 'yellow' }

/**
 * Returns a log record of a function as one line: name, message, and the fields that are text or
 * numbers. The verbose form has further lines with the other fields and the stack.
 */
export const logLine = (
  name: string,
  record: LogRecord,
  { isVerbose, stream }: { isVerbose: boolean; stream: NodeJS.WriteStream },
): string => {
  const { level, message, error } = record
  const fields = Object.entries(record).filter(
    ([field, value]) => !FRAME.includes(field) && value !== name,
  )
  const { short = [], long = [] } = Object.groupBy(fields, ([, value]) =>
    isScalar(value) ? 'short' : 'long',
  )
  const dim = (text: string): string => styleText('dim', text, { stream })
  const ids = printable(short.map(([field, value]) => `${field}=${value}`).join(' '))
  const kind = message === 'fault' ? message : level.toLowerCase()
  const parts = [name, textOf(record), ...(ids ? [dim(ids)] : [])]
  const line = lineOf(kind, parts, LEVEL_COLOURS[level], stream)
  if (!isVerbose) return line
  const errors = typeof error === 'object' ? chainOf(error) : []
  const details = [
    ...(long.length > 0 ? [JSON.stringify(Object.fromEntries(long))] : []),
    ...errors.flatMap(({ stack = [], cause: _, ...members }) => [
      JSON.stringify(members),
      ...stack.map((frame) => `  ${frame}`),
    ]),
  ]
  return [line, ...details.map((detail) => dim(`${' '.repeat(13)}${detail}`))].join('\n')
}

/** Returns the members that shared/log.ts logs of an error. */
export const loggedError = ({ name, message, stack = '', cause }: Error): LoggedError => ({
  name,
  message,
  stack: stack.split('\n').flatMap((line) => (/^ {4}at /.test(line) ? [line.trim()] : [])),
  cause: cause instanceof Error ? loggedError(cause) : undefined,
})

const columns = (title: string, rows: readonly (readonly [string, string])[]): string =>
  rows
    .map(([name, meaning], index) =>
      `  ${(index === 0 ? title : '').padEnd(12)}${name.padEnd(20)}${meaning}`.trimEnd(),
    )
    .join('\n')

export const welcome = (address: string, timeScale: number): string => `
  Debit collection sandbox ${timeScale === 1 ? '' : `(time scale ${timeScale})`}

${columns(
  'keys',
  credentials.map(({ token, caller }) => [token, caller]),
)}

${columns(
  'customers',
  customers.map(({ phone, outcome }) => [phone, outcome]),
)}

  start page  ${address}
  console     ${address}/console
  reference   ${address}/docs

  A first charge:

${firstCharge(address).replaceAll(/^/gm, '  ')}
`
