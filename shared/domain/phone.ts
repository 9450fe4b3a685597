import * as v from 'valibot'
import { textMessage } from './text.ts'

const E164 = /^\+[1-9][0-9]{6,14}$/
const GHANAIAN = /^\+233[1-9][0-9]{8}$/

/** A Ghanaian phone number in E.164: `+233` and nine digits (docs/api.md#validation). */
export const PhoneNumber = v.pipe(
  v.string(textMessage),
  v.check((phone) => E164.test(phone), 'must be in E.164 format'),
  v.check((phone) => E164.test(phone), 'write it like +233241234567'),
  v.check((phone) => GHANAIAN.test(phone) || !E164.test(phone), 'is invalid'),
  v.metadata({ pattern: GHANAIAN.source }),
  v.brand('PhoneNumber'),
)
export type PhoneNumber = v.InferOutput<typeof PhoneNumber>

// Not after other digits of an amount, a date or a reference, and not a date such as 02.11.2026.
const START = /(?<!\d[.,]?|\d{4}-)(?!\d\d([.-])[01]\d\1(?:20)?\d\d\b)/
const WRITTEN = new RegExp(
  `${START.source}(?:(?:\\+|00)?233(?:_0)?_[1-9]|0_[235])(?:_\\d){8}(?![.,]?\\d)`.replaceAll(
    '_',
    '[ .()-]{0,3}',
  ),
)
const UUIDS = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/gi

/** Reports whether a text has a Ghanaian number as people write it, such as `0244 123 456`. */
export const hasPhoneNumber = (text: string): boolean => WRITTEN.test(text.replaceAll(UUIDS, ''))

/** Returns `+233*****4567`, for logs. */
export const maskPhone = (phone: string): string => `${phone.slice(0, 4)}*****${phone.slice(-4)}`
