import * as v from 'valibot'
import type { Pesewas } from '../domain/money.ts'

/**
 * Schemas of single fields, for the API description. The other views export their schemas as
 * functions: esbuild keeps every call at the top level of a file that a Lambda imports.
 */

/** Formats an amount: a number in webhooks and in the bank list, text elsewhere (docs/api.md#amounts). */
export type AmountForm<A> = (amount: Pesewas) => A

/** Names a schema in the API description. */
export const named = <const S extends v.GenericSchema>(name: string, schema: S) =>
  v.pipe(schema, v.title(name))

/** Names a schema of text amounts `name`, and its form with numbers, in events, `Event` and `name`. */
export const namedBy = <const S extends v.GenericSchema>(
  amount: v.GenericSchema,
  name: string,
  schema: S,
) => named(amount.type === 'number' ? `Event${name}` : name, schema)

export const AmountText = v.pipe(v.string(), v.regex(/^[0-9]+\.[0-9]{2}$/))
export const SignedAmount = v.pipe(v.string(), v.regex(/^-?(?:0|[1-9][0-9]*)\.[0-9]{2}$/))
export const Time = v.pipe(v.string(), v.isoTimestamp(), v.metadata({ format: 'date-time' }))
export const Phone = v.pipe(v.string(), v.regex(/^\+233[1-9][0-9]{8}$/))
export const EventId = v.pipe(v.string(), v.regex(/^evt_[0-9]+$/))
// Above 2^31: without the format, generated clients of typed languages overflow.
export const IntegerId = v.pipe(v.number(), v.integer(), v.metadata({ format: 'int64' }))
export const HttpStatus = v.pipe(v.number(), v.integer())
export const Quantity = v.pipe(v.number(), v.integer(), v.minValue(0))
export const FreeForm = v.record(v.string(), v.unknown())
export const NullableText = v.nullable(v.string())
export const NullableTime = v.nullable(Time)
