import { type Figures, metricMembers, metricsService } from './metrics.ts'
import { environment, wallTime } from './runtime.ts'

/**
 * Logs one JSON line per outcome and per fault, without phones, accounts, free text or secrets. Errors
 * are filtered: some quote the input that they could not parse. No library writes the lines, because
 * its logger took a seventh of a request's own CPU time.
 */

const QUOTING = new Set(['SyntaxError', 'ValiError'])

/** A phone or account number; not a part of a reference, a uuid or a time. */
const LONG_NUMBER = /(?<![\w.:-])\+?\d{6,}(?![\w:-])/g

type Thrown = Error & {
  code?: unknown
  $metadata?: { requestId?: string; httpStatusCode?: number }
}

/** Returns the message of an error without quoted input. */
export const errorText = ({ name, message }: Error): string =>
  QUOTING.has(name) ? 'withheld: the message quotes input' : message.replaceAll(LONG_NUMBER, '...')

/** Returns the stack of an error without its message. */
const framesOf = ({ stack }: Error): string[] =>
  (stack ?? '')
    .split('\n')
    .filter((line) => /^ {4}at /.test(line))
    .map((line) => line.trim())

/** Omits members of derived errors: an item, an input, a response. */
const errorMembers = (error: Thrown): object => {
  const { name, code, $metadata, cause } = error
  return {
    name,
    message: errorText(error),
    code: typeof code === 'string' || typeof code === 'number' ? code : undefined,
    aws_request_id: $metadata?.requestId,
    http: $metadata?.httpStatusCode,
    stack: framesOf(error),
    cause: cause instanceof Error ? errorMembers(cause) : undefined,
  }
}

const withoutSecrets = (_: string, value: unknown): unknown =>
  value instanceof Error ? errorMembers(value) : value

/** Lambda's levels, in ascending order. */
const levels = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL']

const writer =
  (level: 'INFO' | 'WARN' | 'ERROR', stream: 'stdout' | 'stderr') =>
  /** With figures, the line is also a metric and is written at every level. */
  (message: string, fields: object = {}, figures: Figures = {}): void => {
    const metrics = metricMembers(figures)
    if (!metrics && levels.indexOf(level) < levels.indexOf(environment.logLevel)) return
    const line: Record<string, unknown> = {
      level,
      message,
      timestamp: wallTime(),
      service: metricsService(environment.stage),
    }
    for (const [name, value] of Object.entries(fields)) {
      if (value !== null && value !== '') line[name] = value
    }
    process[stream].write(`${JSON.stringify(Object.assign(line, metrics), withoutSecrets)}\n`)
  }

export const log = {
  info: writer('INFO', 'stdout'),
  warn: writer('WARN', 'stderr'),
  error: writer('ERROR', 'stderr'),
}

/** Logs an unreadable item as a fault, so that work on the others continues. */
export const logUnreadable = (by: string) => (subject: string, error: Error) =>
  log.error('fault', { job: by, subject: [subject], error })
