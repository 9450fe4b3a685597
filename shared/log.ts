import { LogFormatter, Logger, LogItem } from '@aws-lambda-powertools/logger'
import type { LogAttributes, UnformattedAttributes } from '@aws-lambda-powertools/logger/types'

/**
 * One JSON line per outcome and per fault. Nobody's phone, account, text or secret goes in, and
 * least of all by way of an error: some quote what they could not read, or carry it with them.
 */

/** Their messages quote what was read. */
const QUOTING = new Set(['SyntaxError', 'ValiError'])

/** A phone or account number; not a part of a reference, a uuid or a time. */
const LONG_NUMBER = /(?<![\w.:-])\+?\d{6,}(?![\w:-])/g

type Thrown = Error & {
  code?: unknown
  $metadata?: { requestId?: string; httpStatusCode?: number }
}

/** What an error says, without what it may quote. */
export const wordsOf = ({ name, message }: Error): string =>
  QUOTING.has(name) ? 'withheld: the message quotes input' : message.replaceAll(LONG_NUMBER, '...')

/** Where it came from: the stack without the message that it begins with. */
const framesOf = ({ stack }: Error): string[] =>
  (stack ?? '')
    .split('\n')
    .filter((line) => /^ {4}at /.test(line))
    .map((line) => line.trim())

class Formatter extends LogFormatter {
  override formatAttributes(given: UnformattedAttributes, added: LogAttributes): LogItem {
    const attributes = {
      level: given.logLevel,
      message: given.message,
      timestamp: this.formatTimestamp(given.timestamp),
      service: given.serviceName,
      xray_trace_id: given.xRayTraceId,
    }
    return new LogItem({ attributes }).addAttributes(added)
  }

  // Without the members that an error carries beside its own: an item, an input, a whole response.
  override formatError(error: Thrown): LogAttributes {
    const { name, code, $metadata, cause } = error
    return {
      name,
      message: wordsOf(error),
      code: typeof code === 'string' || typeof code === 'number' ? code : undefined,
      aws_request_id: $metadata?.requestId,
      http: $metadata?.httpStatusCode,
      stack: framesOf(error),
      cause: cause instanceof Error ? this.formatError(cause) : undefined,
    }
  }
}

export const log = new Logger({ serviceName: 'debit-collection', logFormatter: new Formatter() })

/** Logs an item that cannot be read as a fault: the others are worked on. */
export const logUnreadable =
  (by: string) =>
  (subject: string, error: Error): void =>
    log.error('fault', { job: by, subject: [subject], error })
