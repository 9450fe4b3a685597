/** A read of a customer's data by an operator (docs/compliance.md#personal-data). */
export type Access = { at: Date; by: string; noun: string; verb: string }
