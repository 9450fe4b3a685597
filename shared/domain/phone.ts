import * as v from 'valibot'
import { textMessage } from './text.ts'

/** A Ghanaian phone number in E.164: `+233` and nine digits (specification, Validation messages). */
export const PhoneNumber = v.pipe(
  v.string(textMessage),
  v.regex(/^\+[1-9][0-9]{6,14}$/, 'must be in E.164 format'),
  v.regex(/^\+233[1-9][0-9]{8}$/, 'is invalid'),
  v.brand('PhoneNumber'),
)
export type PhoneNumber = v.InferOutput<typeof PhoneNumber>

/** `+233*****4567`: enough to recognise in a log, not enough to call. */
export const maskPhone = (phone: string): string => `${phone.slice(0, 4)}*****${phone.slice(-4)}`
