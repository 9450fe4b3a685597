import { LogFormatter, Logger, LogItem } from '@aws-lambda-powertools/logger'
import type { LogAttributes, UnformattedAttributes } from '@aws-lambda-powertools/logger/types'

/**
 * Logs one JSON line per outcome and per fault, without phones, accounts, free text or secrets. Errors
 * are filtered: some quote the input that they could not parse.
 */

const QUOTING = new Set(['SyntaxError', 'ValiError'])

/** A phone or account number; not a part of a reference, a uuid or a time. */
const LONG_NUMBER = /(?<![\w.:-])\+?\d{6,}(?![\w:-])/g

type Thrown = Error & {
  code?: unknown
  $metadata?: { requestId?: string; httpStatusCode?: number }
}

/** Returns the message of an error without quoted input. */
export const wordsOf = ({ name, message }: Error): string =>
  QUOTING.has(name) ? 'withheld: the message quotes input' : message.replaceAll(LONG_NUMBER, '...')

/** Returns the stack of an error without its message. */
const framesOf = ({ stack }: Error): string[] =>
  (stack ?? '')
    .split('\n')
    .filter((line) => /^ {4}at /.test(line))
    .map((line) => line.trim())

class Formatter extends LogFormatter {
  override formatAttributes(standard: UnformattedAttributes, added: LogAttributes): LogItem {
    const attributes = {
      level: standard.logLevel,
      message: standard.message,
      timestamp: this.formatTimestamp(standard.timestamp),
      service: standard.serviceName,
      xray_trace_id: standard.xRayTraceId,
    }
    return new LogItem({ attributes }).addAttributes(added)
  }

  // Omits members of derived errors: an item, an input, a response.
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

/** Logs an unreadable item as a fault, so that work on the others continues. */
export const logUnreadable = (by: string) => (subject: string, error: Error) =>
  log.error('fault', { job: by, subject: [subject], error })
