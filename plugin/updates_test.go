package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// TestNoUpdates is T7: the runtime holds a lock while it waits for a handler, and
// an update waits for that lock. So nothing here, of which a handler could be a
// caller, asks for one, and no handler returns one.
func TestNoUpdates(t *testing.T) {
	files := token.NewFileSet()
	looked := map[string]bool{}
	seen := 0
	for _, dir := range []string{".", "../pkg"} {
		err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == "UpdateContainers" {
					t.Errorf("%s: UpdateContainers", files.Position(s.Pos()))
				}
				return true
			})
			for _, declaration := range file.Decls {
				f, ok := declaration.(*ast.FuncDecl)
				if !ok || f.Type.Results == nil {
					continue
				}
				for i, result := range f.Type.Results.List {
					if slice, ok := result.Type.(*ast.ArrayType); ok && isUpdate(slice.Elt) {
						looked[f.Name.Name] = true
						seen += returnsNil(t, files, f, i)
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, handler := range []string{"CreateContainer", "StopContainer", "Synchronize"} {
		if !looked[handler] {
			t.Errorf("%s was not looked at", handler)
		}
	}
	if seen < 3 {
		t.Errorf("%d returns were looked at", seen)
	}
}

// isUpdate reports whether a type is *api.ContainerUpdate.
func isUpdate(e ast.Expr) bool {
	star, ok := e.(*ast.StarExpr)
	if !ok {
		return false
	}
	s, ok := star.X.(*ast.SelectorExpr)
	return ok && s.Sel.Name == "ContainerUpdate"
}

// returnsNil fails the test unless a function returns nil at a place, spelled
// out, and returns how often it does.
func returnsNil(t *testing.T, files *token.FileSet, f *ast.FuncDecl, place int) (count int) {
	t.Helper()
	ast.Inspect(f.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false // its returns are its own
		case *ast.ReturnStmt:
			count++
			if len(n.Results) > place {
				if id, ok := n.Results[place].(*ast.Ident); ok && id.Name == "nil" {
					return true
				}
			}
			t.Errorf("%s: %s may return updates", files.Position(n.Pos()), f.Name.Name)
		}
		return true
	})
	return count
}
