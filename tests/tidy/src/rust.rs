//! What a Rust file declares and names, outside its tests and inside them.

use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// A function with a body.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// The line of its `fn`, from 1.
    pub line: usize,
    /// From its `fn` to the end of its body.
    pub length: usize,
}

/// A name at a line.
pub type Named = (usize, String);

/// What the rules want to know of one file.
#[derive(Clone, Default, Debug)]
pub struct RustFile {
    /// Every function, those of tests too.
    pub functions: Vec<Function>,
    /// Every path and import outside tests, written out: `std::fs::read`.
    pub paths: Vec<Named>,
    /// Structs, enums, traits and modules.
    pub types: Vec<Named>,
    /// Modules in files of their own that only tests have.
    pub test_modules: Vec<String>,
    /// Attributes by name, those of tests too: `allow`, `ignore`.
    pub attributes: Vec<Named>,
    /// Lines outside tests that call `unwrap`.
    pub unwraps: Vec<usize>,
    /// Lines outside tests with a `Result<_, String>`.
    pub string_errors: Vec<usize>,
    in_test: usize,
}

impl RustFile {
    /// Reads a file's text.
    ///
    /// # Errors
    /// When it is no Rust.
    pub fn parse(text: &str) -> Result<Self, syn::Error> {
        let parsed = syn::parse_file(text)?;
        let mut file = Self::default();
        file.visit_file(&parsed);
        Ok(file)
    }

    fn function(&mut self, signature: &syn::Signature, block: &syn::Block) {
        let line = signature.fn_token.span().start().line;
        self.functions.push(Function {
            name: signature.ident.to_string(),
            line,
            length: block.span().end().line - line + 1,
        });
    }

    fn import(&mut self, prefix: &str, tree: &syn::UseTree) {
        match tree {
            syn::UseTree::Path(path) => {
                let prefix = format!("{prefix}{}::", path.ident);
                self.import(&prefix, &path.tree);
            }
            syn::UseTree::Group(group) => {
                for tree in &group.items {
                    self.import(prefix, tree);
                }
            }
            syn::UseTree::Name(name) => self.name(prefix, &name.ident),
            syn::UseTree::Rename(rename) => self.name(prefix, &rename.ident),
            syn::UseTree::Glob(glob) => {
                let line = glob.star_token.span().start().line;
                self.paths.push((line, format!("{prefix}*")));
            }
        }
    }

    fn name(&mut self, prefix: &str, ident: &syn::Ident) {
        let line = ident.span().start().line;
        self.paths.push((line, format!("{prefix}{ident}")));
    }

    fn declare(&mut self, ident: &syn::Ident) {
        self.types
            .push((ident.span().start().line, ident.to_string()));
    }

    /// Visits an item, remembering whether it is only there for tests.
    fn within(&mut self, attributes: &[syn::Attribute], visit: impl FnOnce(&mut Self)) {
        let test = usize::from(attributes.iter().any(is_test_only));
        self.in_test += test;
        visit(self);
        self.in_test -= test;
    }
}

/// `#[test]`, `#[tokio::test]` and `#[cfg(test)]`.
fn is_test_only(attribute: &syn::Attribute) -> bool {
    let path = attribute.path();
    if path
        .segments
        .last()
        .is_some_and(|segment| segment.ident == "test")
    {
        return true;
    }
    path.is_ident("cfg")
        && attribute
            .parse_args::<syn::Path>()
            .is_ok_and(|argument| argument.is_ident("test"))
}

fn is_string_error(path: &syn::Path) -> bool {
    let Some(last) = path
        .segments
        .last()
        .filter(|segment| segment.ident == "Result")
    else {
        return false;
    };
    let syn::PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return false;
    };
    match arguments.args.iter().nth(1) {
        Some(syn::GenericArgument::Type(syn::Type::Path(error))) => error.path.is_ident("String"),
        _ => false,
    }
}

impl<'ast> Visit<'ast> for RustFile {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.function(&item.sig, &item.block);
        self.within(&item.attrs, |file| visit::visit_item_fn(file, item));
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.function(&item.sig, &item.block);
        self.within(&item.attrs, |file| visit::visit_impl_item_fn(file, item));
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let Some(block) = &item.default {
            self.function(&item.sig, block);
        }
        visit::visit_trait_item_fn(self, item);
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        self.declare(&item.ident);
        if item.content.is_none() && item.attrs.iter().any(is_test_only) {
            self.test_modules.push(item.ident.to_string());
        }
        self.within(&item.attrs, |file| visit::visit_item_mod(file, item));
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        self.within(&item.attrs, |file| visit::visit_item_impl(file, item));
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.declare(&item.ident);
        self.within(&item.attrs, |file| visit::visit_item_struct(file, item));
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.declare(&item.ident);
        self.within(&item.attrs, |file| visit::visit_item_enum(file, item));
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.declare(&item.ident);
        self.within(&item.attrs, |file| visit::visit_item_trait(file, item));
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.within(&item.attrs, |file| {
            if file.in_test == 0 {
                file.import("", &item.tree);
            }
            visit::visit_item_use(file, item);
        });
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if self.in_test == 0 {
            let line = path.span().start().line;
            let names: Vec<String> = path
                .segments
                .iter()
                .map(|segment| segment.ident.to_string())
                .collect();
            self.paths.push((line, names.join("::")));
            if is_string_error(path) {
                self.string_errors.push(line);
            }
        }
        visit::visit_path(self, path);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        if self.in_test == 0 && call.method == "unwrap" {
            self.unwraps.push(call.method.span().start().line);
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_attribute(&mut self, attribute: &'ast syn::Attribute) {
        let line = attribute.span().start().line;
        if let Some(last) = attribute.path().segments.last() {
            self.attributes.push((line, last.ident.to_string()));
        }
        visit::visit_attribute(self, attribute);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_as_long_as_from_its_fn_to_its_brace() {
        let file = RustFile::parse("/// Says.\n#[inline]\nfn one(\n    a: u8,\n) {\n}\n");
        let functions = file.expect("it is Rust").functions;
        assert_eq!((functions[0].line, functions[0].length), (3, 4));
    }

    #[test]
    fn grouped_imports_are_written_out() {
        let file =
            RustFile::parse("use std::{fs::{self, File}, io as input};").expect("it is Rust");
        let names: Vec<&str> = file.paths.iter().map(|(_, name)| name.as_str()).collect();
        assert_eq!(names, ["std::fs::self", "std::fs::File", "std::io"]);
    }

    #[test]
    fn what_only_tests_use_is_left_out() {
        let text = "#[cfg(test)]\nmod tests { fn a() { std::fs::read(\"b\").unwrap(); } }\n\
                    #[test]\nfn c() { d().unwrap(); }\nfn e() { f().unwrap(); }\n\
                    fn g() -> Result<u8, String> { h() }";
        let file = RustFile::parse(text).expect("it is Rust");
        assert_eq!(file.unwraps, [5]);
        assert_eq!(file.string_errors, [6]);
        assert!(
            !file
                .paths
                .iter()
                .any(|(_, name)| name.starts_with("std::fs"))
        );
    }
}
