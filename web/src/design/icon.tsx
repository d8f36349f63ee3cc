/** Drawn on a grid of 16 with a line of 1.5. */
const PATHS = {
  search: 'M7 12a5 5 0 1 0 0-10 5 5 0 0 0 0 10ZM10.7 10.7 14 14',
  undo: 'M3 6.5h7a3.5 3.5 0 0 1 0 7H6M6 3 2.5 6.5 6 10',
  download: 'M8 2v8M4.5 7 8 10.5 11.5 7M2.5 13.5h11',
  plus: 'M8 3v10M3 8h10',
  minus: 'M3 8h10',
  check: 'M3 8.5 6.5 12 13 4.5',
  close: 'M4 4l8 8M12 4l-8 8',
  warning: 'M8 2 1.5 13.5h13L8 2ZM8 6.5v3.2M8 11.6v.1',
  keyboard: 'M1.5 4h13v8h-13zM4 6.5h.1M6.6 6.5h.1M9.3 6.5h.1M12 6.5h.1M4.5 9.5h7',
  system: 'M2 3h12v8H2zM5.5 13.5h5M8 11v2.5',
  light:
    'M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM8 1.5v1M8 13.5v1M1.5 8h1M13.5 8h1M3.4 3.4l.7.7M11.9 11.9l.7.7M12.6 3.4l-.7.7M4.1 11.9l-.7.7',
  dark: 'M13.5 9.5A5.8 5.8 0 0 1 6.5 2.5a5.8 5.8 0 1 0 7 7Z',
  ascending: 'M8 13V3M4.5 6.5 8 3l3.5 3.5',
  descending: 'M8 3v10M4.5 9.5 8 13l3.5-3.5',
  signOut: 'M6 2.5H3v11h3M10.5 5 13.5 8l-3 3M13.5 8H6.5',
  person: 'M8 8a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM2.5 14c.6-2.6 2.8-4 5.5-4s4.9 1.4 5.5 4',
  lock: 'M3.5 7.5h9V14h-9zM5.5 7.5v-2a2.5 2.5 0 0 1 5 0v2',
  chevronDown: 'M3.5 6 8 10.5 12.5 6',
  back: 'M10 3.5 5.5 8 10 12.5',
  more: 'M2.5 4h11M2.5 8h11M2.5 12h11',
  print: 'M4.5 5.5V2h7v3.5M4.5 11.5h-3v-6h13v6h-3M4.5 9.5h7V14h-7z',
  stock: 'M2 5.5 8 2l6 3.5v6L8 14l-6-2.5zM2 5.5 8 8.5l6-3M8 8.5V14',
  sell: 'M2 2h5.5l6.5 6.5-5.5 5.5L2 7.5zM5 5h.1',
  receive: 'M8 1.5v8M4.5 6.5 8 10l3.5-3.5M1.5 9.5v4.5h13V9.5',
  count: 'M3 2.5h10v12H3zM5.5 1.5h5v2h-5zM5.5 8l1.5 1.5 3.5-3.5M5.5 12h5',
  orders: 'M2.5 5h11l-.8 9H3.300zM5.5 7V4.5a2.5 2.5 0 0 1 5 0V7',
  activity: 'M1.5 8h3l2-5 3 10 2-5h3',
  pets: 'M4 7.5v.1M6.5 4v.1M9.5 4v.1M12 7.5v.1M8 8.5c2 0 3.5 2 3.5 3.5S10 13.5 8 13.5 4.5 13.5 4.5 12 6 8.5 8 8.5Z',
  people:
    'M6 7.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5ZM1.5 13.5c0-2.5 2-4 4.5-4s4.5 1.5 4.5 4M10.5 3a2.5 2.5 0 0 1 0 4.5M12 9.800c1.5.5 2.5 1.800 2.5 3.700',
  webhooks: 'M5.5 10.5 8 5.5M8 5.5l2.5 5M5 11.5h6M8 5.5v-1M4.5 12v.1M11.5 12v.1',
  overview: 'M2 14h12M4 11.5V8M8 11.5V3M12 11.5V6',
  docs: 'M3 2h7l3 3v9H3zM5.5 7h5M5.5 10h5',
} as const

export type IconName = keyof typeof PATHS

/** Decoration: the text beside it or the label of its button says the same in words. */
export function Icon({ name, size = 16 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 16 16" fill="none" aria-hidden="true" focusable="false">
      <path
        d={PATHS[name]}
        stroke="currentColor"
        strokeWidth="1.5"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
    </svg>
  )
}
