import { Brand } from '../../design/brand.tsx'
import { ThemeSwitch } from '../../design/theme-switch.tsx'

interface Menu {
  readonly isOpen: boolean
  readonly onToggle: () => void
}

/** The bar of the staff page, here with the button of the menu that small screens need. */
export function TopBar({ menu }: { readonly menu?: Menu }) {
  return (
    <header className="topbar docs-topbar">
      {menu !== undefined && (
        <button
          type="button"
          className="button button--quiet button--icon docs-topbar__menu"
          aria-expanded={menu.isOpen}
          aria-controls="docs-menu"
          aria-label="Menu"
          onClick={menu.onToggle}
        >
          <svg width="18" height="18" viewBox="0 0 18 18" aria-hidden="true" focusable="false">
            <path
              d="M2 4.5h14M2 9h14M2 13.5h14"
              stroke="currentColor"
              strokeWidth="1.6"
              strokeLinecap="round"
            />
          </svg>
        </button>
      )}
      <Brand />
      <nav className="topbar__nav docs-topbar__nav" aria-label="Main">
        <a className="topbar__link" href="/#/stock">
          Stock
        </a>
        <a className="topbar__link" href="/#/overview">
          Overview
        </a>
        <a className="topbar__link" href="#/" aria-current="page">
          Docs
        </a>
      </nav>
      <div className="topbar__end">
        <ThemeSwitch />
      </div>
    </header>
  )
}
