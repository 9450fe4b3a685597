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

const WRITTEN = /(?<!\d)(?:(?:\+|00)?233[ -]?(?:\(0\) ?)?[1-9]|0[235])\d[ -]?\d{3}[ -]?\d{4}(?!\d)/

/** Reports whether a text has a Ghanaian number as people write it, such as `024 123 4567`. */
export const hasPhoneNumber = (text: string): boolean => WRITTEN.test(text)

/** Returns `+233*****4567`, for logs. */
export const maskPhone = (phone: string): string => `${phone.slice(0, 4)}*****${phone.slice(-4)}`
