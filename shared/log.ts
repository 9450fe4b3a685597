import { Logger } from '@aws-lambda-powertools/logger'

/** One JSON line per outcome and per fault. Nobody's phone, account, text or secret goes in. */
export const log = new Logger({ serviceName: 'debit-collection' })
