/** Draws the diagrams of docs/, which are in the language of Mermaid. */

export const schemes = ['light', 'dark'] as const
export type Scheme = (typeof schemes)[number]

/** As in pages.css: a picture has no access to the styles of its page. */
const colours = {
  light: { bg: '#ffffff', fg: '#1a1f28', muted: '#566070', accent: '#2a57c5', line: '#566070' },
  dark: { bg: '#171b22', fg: '#e7eaef', muted: '#a0a9b7', accent: '#93b3ff', line: '#a0a9b7' },
} as const satisfies Record<Scheme, object>

/** Returns a picture that loads nothing. */
export const drawingSvg = async (source: string, scheme: Scheme): Promise<string> => {
  const { renderMermaidSVG } = await import('beautiful-mermaid')
  return renderMermaidSVG(source, { ...colours[scheme], font: 'system-ui' }).replaceAll(
    /@import url\([^)]*\);/g,
    '',
  )
}
