/** Instants as they are written down and shown: ISO 8601 in UTC with milliseconds; null stays null. */

export const iso = (at: Date | null): string | null => at?.toISOString() ?? null

export const fromIso = (text: string | null): Date | null => (text === null ? null : new Date(text))
