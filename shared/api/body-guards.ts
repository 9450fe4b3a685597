import httpJsonBodyParser from '@middy/http-json-body-parser'
import { judgeInput } from '../domain/validation.ts'
import { type Guard, headerValues, orThrow } from './exchange.ts'
import { bodyText, fieldsOf, judgeReserved, malformed, scan } from './json-body.ts'
import type { Operation } from './operations.ts'

const JSON_UTF8 = /^application\/json\s*(?:;\s*charset="?utf-8"?\s*)?$/i

/** The text-level rules of a body, before it is parsed: 400/1400. */
const textGuard = (operation: Operation): Guard => ({
  before: ({ event }) => {
    const [contentType = ''] = headerValues(event, 'content-type')
    if (!JSON_UTF8.test(contentType)) throw malformed('Content-Type must be application/json')
    const text = orThrow(bodyText(event.body, event.isBase64Encoded))
    const scanned = orThrow(scan(text))
    orThrow(judgeReserved(text, scanned, operation))
    event.exchange.numbers = scanned.numbers
    event.body = text
    event.isBase64Encoded = false
  },
})

/** Holds the parsed body against the operation's schema: 422/1007, or a field's own code. */
const inputGuard = (schema: NonNullable<Operation['body']>, operation: Operation): Guard => ({
  before: ({ event }) => {
    const { exchange } = event
    const fields = orThrow(fieldsOf(event.body, exchange.numbers ?? [], operation))
    exchange.input = orThrow(judgeInput(schema, fields, operation.fieldCodes))
  },
})

/** Everything between the bytes of a body and the input of a function, in order. */
export const bodyGuards = (operation: Operation): Guard[] =>
  operation.body
    ? [
        textGuard(operation),
        httpJsonBodyParser({ disableContentTypeCheck: true }) as Guard,
        inputGuard(operation.body, operation),
      ]
    : []
