/** The logo and name of the shop, as a link to the staff page. */
export function Brand() {
  return (
    <a className="topbar__brand" href="/" aria-label="Petstore">
      <svg
        width="24"
        height="24"
        viewBox="0 0 64 64"
        fill="currentColor"
        aria-hidden="true"
        focusable="false"
      >
        <ellipse cx="12.5" cy="30" rx="6" ry="8" transform="rotate(-24 12.5 30)" />
        <ellipse cx="24" cy="16" rx="6.5" ry="9" transform="rotate(-8 24 16)" />
        <ellipse cx="40" cy="16" rx="6.5" ry="9" transform="rotate(8 40 16)" />
        <ellipse cx="51.5" cy="30" rx="6" ry="8" transform="rotate(24 51.5 30)" />
        <path d="M32 30c6 0 9.800 4 12.800 8 2.600 3.600 5.400 5.600 5.400 10.200 0 4.600-3.500 7.500-7.800 7.500-3.800 0-6-2-10.400-2s-6.600 2-10.400 2c-4.300 0-7.800-2.900-7.800-7.500 0-4.600 2.800-6.600 5.400-10.200 3-4 6.800-8 12.800-8z" />
      </svg>
      <span>Petstore</span>
    </a>
  )
}
